"""The tests.  This file makes the folder win over a package ``tests`` that a library may have left
beside it.
"""
