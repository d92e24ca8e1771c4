"""Cases for an AMD GPU: ``make test-rocm-gpu``. The fake HIP library runs them, too."""
