"""The plugins: one file each; they meet in the session and never import one another."""
