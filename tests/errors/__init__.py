"""Every message of a wrapper, with a call that makes it: docs/errors.md is written from this."""
