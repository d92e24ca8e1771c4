"""An add-on outside the package, written from docs/add-ons.md: a launcher for another device."""
