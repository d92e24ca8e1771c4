"""Cases that must hold on a real driver; the fake one is tried with them too.

The fake encodes one reading of the driver's rules: where there is a GPU, the same cases run on it.

    python -m tests.cuda.gpu            all cases, each in a process of its own
    python -m tests.cuda.gpu CASE       one, in this process
"""
