"""Build the files of a release, and check them in clean environments.

:mod:`.wheels` is ``make wheels``, :mod:`.check` is ``make release-check``. Both build with
:mod:`.build`, for each Python that :mod:`.pythons` finds.
"""
