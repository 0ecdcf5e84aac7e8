"""A plan of runs, one after the other: teachers, their translations, a student, its figures."""
