"""Evaluates an SQL statement over the rows of a CSV file with SQLite, and prints the values as JSON.
Missing cells are NULL."""
import csv
import json
import sqlite3
import sys

MISSING = {"", "NA", "null", "?"}
with open(sys.argv[1], newline="") as file:
    header, *rows = csv.reader(file)
database = sqlite3.connect(":memory:")
database.execute(f"CREATE TABLE points ({', '.join(header)})")
cells = [[None if cell in MISSING else cell for cell in row] for row in rows]
database.executemany(f"INSERT INTO points VALUES ({', '.join('?' * len(header))})", cells)
with open(sys.argv[2]) as file:
    json.dump([value for row in database.execute(file.read()) for value in row], sys.stdout)
