# pyright: basic
"""Call SQLite: databases and statements are handles, which are destroyed once and in order.

apt-get install libsqlite3-dev, or libsqlite3-0 and gcc
"""

import numpy as np

from ffi_builder import wrap

PROTOTYPES = """
typedef struct sqlite3 sqlite3;
typedef struct sqlite3_stmt sqlite3_stmt;
int sqlite3_open(const char *filename, sqlite3 **db);
int sqlite3_prepare_v2(sqlite3 *db, const char *sql, int size, sqlite3_stmt **made, char **rest);
int sqlite3_bind_double(sqlite3_stmt *made, int at, double value);
int sqlite3_step(sqlite3_stmt *made);
double sqlite3_column_double(sqlite3_stmt *made, int at);
const char *sqlite3_column_name(sqlite3_stmt *made, int at);
int sqlite3_finalize(sqlite3_stmt *made);
int sqlite3_close(sqlite3 *db);
"""
ROW = 100  # and 101 is the end; sqlite3_step returns both, so its status is a result

opened = wrap(
    "-lsqlite3",
    "sqlite3_open(filename: String) -> db: handle",
    prototype=PROTOTYPES,
    destroy="sqlite3_close",
)
prepared = wrap(
    "-lsqlite3",
    "sqlite3_prepare_v2(db: handle, sql: String) -> made: handle where db.present",
    prototype=PROTOTYPES,
    args={"size": "sql.length", "rest": None},
    errors={1: ("ValueError", "the SQL is wrong")},
    destroy="sqlite3_finalize",
)
sqlite = wrap(
    "-lsqlite3",
    [
        "sqlite3_bind_double(made: handle, at: int32, value: float64) where made.present",
        "sqlite3_step(made: handle) -> status: int32 where made.present",
        "sqlite3_column_double(made: handle, at: int32) -> value: float64 where made.present",
        "sqlite3_column_name(made: handle, at: int32) -> name: String where made.present",
    ],
    prototype=PROTOTYPES,
)


prepare = prepared["sqlite3_prepare_v2"]


def rows(statement):
    """Yield the first column of each row."""
    while sqlite["sqlite3_step"](statement) == ROW:
        yield sqlite["sqlite3_column_double"](statement, 0)


POWERS = (
    "WITH RECURSIVE p(x) AS (VALUES(1.0) UNION ALL SELECT x * ?1 FROM p LIMIT 8) SELECT x FROM p"
)
with opened["sqlite3_open"](":memory:") as db:
    with prepare(db, POWERS) as powers:
        sqlite["sqlite3_bind_double"](powers, 1, 1.5)
        found = np.array([*rows(powers)])
        print("column", sqlite["sqlite3_column_name"](powers, 0))
    print("largest difference from NumPy:", np.abs(found - 1.5 ** np.arange(8)).max())

    try:
        prepare(db, "SELEC 1")
    except ValueError as error:
        print(f"ValueError: {error}")
    try:
        next(rows(powers))
    except ValueError as error:
        print(f"ValueError: {error}")
    try:
        next(rows(db))
    except TypeError as error:
        print(f"TypeError: {error}")
    left = prepare(db, "SELECT 1")
    try:
        db.close()  # SQLITE_BUSY
    except RuntimeError as error:
        print(f"RuntimeError: {error}")
