"""The last resort for small problems: solved in decimals, then rounded to float64."""
