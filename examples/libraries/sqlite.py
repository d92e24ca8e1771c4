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
int sqlite3_bind_text(sqlite3_stmt *made, int at, const char *text, int length, long destructor);
int sqlite3_step(sqlite3_stmt *made);
double sqlite3_column_double(sqlite3_stmt *made, int at);
const char *sqlite3_column_name(sqlite3_stmt *made, int at);
const char *sqlite3_column_text(sqlite3_stmt *made, int at);
int sqlite3_finalize(sqlite3_stmt *made);
int sqlite3_close(sqlite3 *db);
"""
ROW = 100  # and 101 is the end; sqlite3_step returns both, so its status is a result
TRANSIENT = -1  # SQLITE_TRANSIENT, a pointer that is a number: SQLite copies the text

sqlite = wrap(
    "-lsqlite3",
    [
        "sqlite3_open(filename: String) -> db: handle",
        "sqlite3_prepare_v2(db: handle, sql: String) -> made: handle",
        "sqlite3_bind_double(made: handle, at: int32, value: float64)",
        "sqlite3_bind_text(made: handle, at: int32, text: String)",
        "sqlite3_step(made: handle) -> status: int32",
        "sqlite3_column_double(made: handle, at: int32) -> value: float64",
        "sqlite3_column_name(made: handle, at: int32) -> name: String",
        "sqlite3_column_text(made: handle, at: int32) -> text: String",
    ],
    prototype=PROTOTYPES,
    args={
        "size": "sql.length",
        "rest": None,
        "length": "text.length",
        "destructor": TRANSIENT,
    },
    errors={1: ("ValueError", "SQLite refuses it")},
    destroy={"db": "sqlite3_close", "made": "sqlite3_finalize"},
)
prepare = sqlite["sqlite3_prepare_v2"]


def rows(statement):
    """Yield the first column of each row."""
    while sqlite["sqlite3_step"](statement) == ROW:
        yield sqlite["sqlite3_column_double"](statement, 0)


POWERS = (
    "WITH RECURSIVE p(x) AS (VALUES(1.0) UNION ALL SELECT x * ?1 FROM p LIMIT 8) SELECT x FROM p"
)
with sqlite["sqlite3_open"](":memory:") as db:
    with prepare(db, POWERS) as powers:
        sqlite["sqlite3_bind_double"](powers, 1, 1.5)
        found = np.array([*rows(powers)])
        print("column", sqlite["sqlite3_column_name"](powers, 0))
    print("largest difference from NumPy:", np.abs(found - 1.5 ** np.arange(8)).max())

    with prepare(db, "SELECT upper(?1) || '!'") as shout:
        sqlite["sqlite3_bind_text"](shout, 1, "hello")
        assert sqlite["sqlite3_step"](shout) == ROW
        print(sqlite["sqlite3_column_text"](shout, 0))

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
