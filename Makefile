# What a person types. Everything is built by Meson in build/; this file only makes sure that what it needs is there.
BUILD ?= build
MESON ?= meson

.PHONY: all program run tests test exam exam-runs calibrate failing pages format tidy sanitize coverage fuzz bench silicon deb tarball install clean setup setup-checks configure

all: configure
	ninja -C $(BUILD)

program: configure
	ninja -C $(BUILD) fathom exec-libraries doc/fathom.1 doc/fathom doc/_fathom doc/fathom.fish

# Only the program itself: the tests are not waited for, and what only they need is not installed.
run: program
	./$(BUILD)/fathom run

# Tests are built where what they need is there, which may have come after the build folder.
tests: setup-checks configure
	@grep -q unit/data/test_data $(BUILD)/build.ninja || $(MESON) setup --reconfigure $(BUILD)
	ninja -C $(BUILD)

test: tests
	tools/run_tests.sh $(BUILD)

# Random GPUs from a fresh seed, which is printed; COUNT and SEED may be given. What is worth keeping of it goes into
# doc/results/calibration.md by hand.
calibrate: tests
	$(BUILD)/tests/known/calibrate $(or $(COUNT),200) $(or $(SEED),$$(date +%s)) -j $$(nproc) $(BUILD)/calibration.md

# What is inferred, laid beside what is true (doc/exam.md), from the runs that are in RUNS. A minute of two cores.
exam: tests
	python3 tests/exam/exam.py $(BUILD)/tests/exam/exam_case --runs $(or $(RUNS),$(BUILD)/exam)

# Measures what RUNS lacks, COUNT runs of each paper: a minute of one core each.
exam-runs: tests
	python3 tests/exam/exam.py $(BUILD)/tests/exam/exam_case --runs $(or $(RUNS),$(BUILD)/exam) --make $(or $(COUNT),1000)

# Each allocation that any probe or command makes fails once, told apart by the path of calls to it. An hour of one core, three
# minutes of sixteen.
failing: tests
	n=$$(nproc); seq 0 $$((n - 1)) | xargs -P $$n -I{} $(BUILD)/tests/prop/failing_paths $(BUILD)/failing-paths {} $$n

# The page about all probes, and their figures on the simulated GTX 280.
pages: all
	$(BUILD)/fathom list probes --format markdown > doc/probes.md
	rm -rf $(BUILD)/pages && mkdir -p $(BUILD)/pages
	$(BUILD)/fathom run -d sim:gtx280 -o $(BUILD)/pages/gtx280.fathom > $(BUILD)/pages/summary.txt
	$(BUILD)/fathom report $(BUILD)/pages/gtx280.fathom --figures $(BUILD)/pages > $(BUILD)/pages/report.txt
	$(BUILD)/fathom run -d sim:g8800gtx -p host -o $(BUILD)/pages/host.fathom >> $(BUILD)/pages/summary.txt
	$(BUILD)/fathom report $(BUILD)/pages/host.fathom --figures $(BUILD)/pages >> $(BUILD)/pages/report.txt
	for f in $$(sed -n 's/.*](figures\/\(.*\))$$/\1/p' doc/probes.md); do cp $(BUILD)/pages/$$f doc/figures/; done

# Ordinary kernels on the simulated H200, and predicted, beside the cycles that a card took: tables of errors. Six minutes of two cores.
# Each has a device to itself, so that what others left in its caches changes nothing.
silicon: all
	sed -n 's/^\([a-z][^ ]*\) .*/\1/p' tests/silicon/kernels.txt | FATHOM_THREADS=1 xargs -P $$(nproc) -n 1 \
		$(BUILD)/tests/silicon/silicon sim:h200 tests/silicon > $(BUILD)/silicon.tsv
	python3 tests/silicon/silicon_errors.py tests/silicon/h200.tsv $(BUILD)/silicon.tsv --markdown > doc/results/silicon.md
	-python3 tests/silicon/silicon_predict.py $(BUILD)/fathom tests/silicon/h200.fathom.xz tests/silicon/h200.tsv --markdown > doc/results/predict-silicon.md

format: setup-checks
	python3 tools/check_style.py --format --write

tidy: setup-checks configure
	python3 tools/check_style.py --format --tidy $(BUILD)

sanitize: setup-checks
	tools/sanitize.sh build-asan

coverage: setup-checks
	tools/coverage.sh build-coverage

fuzz: setup-checks
	tools/fuzz.sh build-fuzz

bench: tests
	$(MESON) test -C $(BUILD) --benchmark --verbose

# Packages, in out/: for this distribution, and one that runs from any folder. With SYSROOT, a folder with an older system, the latter
# runs there, too (doc/faq.md).
deb: setup
	@tools/install_needed.sh --packages
	tools/package.sh deb out

tarball: setup
	SYSROOT=$(SYSROOT) tools/package.sh tarball out

install: program
	ninja -C $(BUILD) lib
	$(MESON) install -C $(BUILD) --no-rebuild

clean:
	rm -rf build build-asan build-asan-threads build-coverage build-fuzz

setup:
	@tools/install_needed.sh

setup-checks:
	@tools/install_needed.sh --checks
	@tools/install_optional.sh

configure: setup
	@test -f $(BUILD)/build.ninja || $(MESON) setup $(BUILD)
