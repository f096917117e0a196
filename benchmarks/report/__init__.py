"""Parts of the validation report: each function computes a table, `page` writes docs/validation.md from them."""
