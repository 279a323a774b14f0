"""Parts of scripts/sbom.py, which find out where each file of a prefix comes from, and its licence."""
