"""What a run is asked to do: the config model, the presets, the bundled word list with its licence.

    load_config(preset, path or nothing, overrides) -> RunConfig (frozen, checked, unknown keys
    refused)

    2x2.toml ... 4x5.toml                  presets, loaded by name
    launch/                                for batch systems, Kubernetes and rented machines
    wordlists/sources.toml                 the known lists, read by boardclass/wordlist.py
    wordlists/scowl70.txt, scowl35.txt     bundled lists; scowl70.LICENSE permits it

This folder checks names, types and ranges; what a value means (dimensions, buckets, scores) is for
boardclass and search to say: ``RunConfig.resolve`` asks them.  Imports pydantic.
"""
