"""Evaluates an SQL statement over the rows of a CSV file with SQLite, and prints the values as JSON.
Cells are texts, as the file has them."""
import csv
import json
import sqlite3
import sys

with open(sys.argv[1], newline="") as file:
    header, *rows = csv.reader(file)
database = sqlite3.connect(":memory:")
database.execute(f"CREATE TABLE points ({', '.join(header)})")
database.executemany(f"INSERT INTO points VALUES ({', '.join('?' * len(header))})", rows)
with open(sys.argv[2]) as file:
    json.dump([value for row in database.execute(file.read()) for value in row], sys.stdout)
