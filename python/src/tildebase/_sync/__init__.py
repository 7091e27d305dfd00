# Written by python/generate.py. Do not edit.
