"""What scripts/sbom.py is made of: where each file of a prefix comes from, and under which licence."""
