"""What is to be true of a real driver, and is tried on the fake one as well.

The fake encodes one reading of the driver's rules: where there is a GPU, the same cases run on it.

    python -m tests.cuda.gpu            all cases, each in a process of its own
    python -m tests.cuda.gpu CASE       one, in this process
"""
