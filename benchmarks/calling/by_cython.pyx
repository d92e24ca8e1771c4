# cython: language_level=3, boundscheck=False
def ints(int a, int b, int c):
    pass


def arrays3(float[:] a, float[:] b, float[:] c):
    pass
