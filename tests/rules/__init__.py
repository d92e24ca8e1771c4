"""The rows of docs/checks.md, each accepted and rejected: by the oracle, and by a wrapper."""
