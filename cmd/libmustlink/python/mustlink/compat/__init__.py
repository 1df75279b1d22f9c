"""Packages with the names and arguments of other packages, on the methods of this one."""
