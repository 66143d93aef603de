/* What libfathom is for: read a run, or measure one, and take its findings, a figure and a prediction.
 *
 *   cc libfathom.c $(pkg-config --cflags --libs libfathom) -o example
 *   ./example card.fathom             prints every finding of a run file
 *   ./example --measure sim:toy       measures the clock of a device first */
#include <fathom.h>
#include <stdio.h>
#include <string.h>

static const char kernel[] = ".version 6.0\n.target sm_70\n.address_size 64\n"
			     ".visible .entry add(.param .u64 out)\n"
			     "{\n"
			     "	.reg .u64 %rd;\n"
			     "	.reg .f32 %f;\n"
			     "	ld.param.u64 %rd, [out];\n"
			     "	mov.f32 %f, 0f3F800000;\n"
			     "	add.f32 %f, %f, %f;\n"
			     "	st.global.f32 [%rd], %f;\n"
			     "	ret;\n"
			     "}\n";

/* Called after every point; anything but 0 ends the run. */
static int on_progress(void *ctx, const struct fathom_progress *at)
{
	unsigned *points = ctx;

	(void)at;
	++*points;
	return 0;
}

static int measure(struct fathom_run **run, const char *device, struct fathom_error *why)
{
	unsigned points = 0;
	const struct fathom_measuring how = {.size = sizeof(how),
					     .device = device,
					     .probes = "clock",
					     .seed = 1,
					     .progress = on_progress,
					     .ctx = &points};
	const int rc = fathom_measure(run, &how, why);

	if (rc == 0)
		fprintf(stderr, "%u points\n", points);
	return rc;
}

static void print(const struct fathom_finding *f)
{
	printf("%s\t%d\t", f->key, (int)f->verdict);
	if (f->kind == FATHOM_NUMBER)
		printf("%.17g", f->number);
	else if (f->kind == FATHOM_TEXT)
		printf("%s", f->text);
	for (size_t i = 0; i < f->array_count; i++)
		printf("%s%.17g", i ? " " : "", f->array[i]);
	printf("\t%s\n", f->unit);
}

static int use(struct fathom_run *run, struct fathom_error *why)
{
	const struct fathom_argument out = {.is_buffer = 1, .value = 4096};
	const struct fathom_kernel k = {.size = sizeof(k),
					.ptx = kernel,
					.grid = {1, 1, 1},
					.block = {32, 1, 1},
					.arguments = &out,
					.argument_count = 1};
	struct fathom_prediction p = {.size = sizeof(p)};
	size_t figures;

	for (size_t i = 0; i < fathom_finding_count(run); i++)
		print(fathom_finding(run, i));
	const int rc = fathom_figures(run, &figures, why);
	if (rc)
		return rc;
	for (size_t i = 0; i < figures; i++) {
		const struct fathom_figure *f = fathom_figure(run, i);
		fprintf(stderr, "figure %s: %zu curves, %s against %s\n", f->name, f->curve_count, f->y.label,
			f->x.label);
	}
	/* A run that lacks what a prediction needs says so. */
	if (fathom_predict(run, &k, &p, why) == 0)
		fprintf(stderr, "add takes %.3g us, held up by %s; %u findings are missing\n", p.seconds * 1e6, p.bound,
			p.missing);
	else
		fprintf(stderr, "no prediction: %s\n", why->text);
	return 0;
}

int main(int argc, char **argv)
{
	struct fathom_run *run = NULL;
	struct fathom_error why;
	int rc;

	if (argc == 3 && strcmp(argv[1], "--measure") == 0)
		rc = measure(&run, argv[2], &why);
	else
		rc = fathom_open(&run, argc == 2 ? argv[1] : "card.fathom", &why);
	if (rc == 0) {
		fprintf(stderr, "%s, %u SMs, libfathom %s\n", fathom_device(run)->name, fathom_device(run)->sm_count,
			fathom_version());
		rc = use(run, &why);
	}
	if (rc)
		fprintf(stderr, "%s\n", why.text);
	fathom_close(run);
	return rc != 0;
}
