# Two commands: make demo, make test. All else is in tools/bootstrap.py.
# make test ARGS="-k hinge -x" hands ARGS to pytest; make test BLAS=none runs the core on a numpy without BLAS; make scene NAME=beams FULL=1 makes one scene of the gallery.

.PHONY: demo test bench bench-cloth bench-nature bench-everyday bench-fuzz validate scene gallery blends extension constants farm-demo clean

scene: ARGS = $(NAME) $(if $(FULL),--full)
gallery: ARGS = $(if $(FULL),--full)

demo test bench bench-cloth bench-nature bench-everyday bench-fuzz validate scene gallery blends extension constants farm-demo:
	@roots="$${PYENV_ROOT:-$$HOME/.pyenv}"; \
	for python in python3 python3.11 python3.13 python "$$roots"/versions/3.11.*/bin/python "$$roots"/versions/3.13.*/bin/python; do \
		if "$$python" -c 'import sys; sys.exit(sys.version_info < (3, 8))' >/dev/null 2>&1; then \
			exec "$$python" tools/bootstrap.py $@ $(if $(BLAS),--blas $(BLAS)) $(ARGS); \
		fi; \
	done; \
	echo "Thin Shell needs Python 3.11 or 3.13 with its venv module, and none was found: install one or put it on the PATH." >&2; \
	exit 1

clean:
	rm -rf .venv-* .pytest_cache .mypy_cache .ruff_cache .hypothesis out dist
