/* Any bytes as edits of a valid run file, several at once. It is refused in one sentence, or it can be concluded from,
 * drawn and reported. */
#include "run_edits.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct {
	const char *table, *column;
} places[] = {{"device", "sm_count"},
	      {"device", "warp_size"},
	      {"device", "max_threads_per_block"},
	      {"device", "memory_bytes"},
	      {"device", "clock_hz"},
	      {"device", "has_f64"},
	      {"series", "experiment"},
	      {"series", "seed"},
	      {"series", "before_sm_clock_mhz"},
	      {"native", "instructions"},
	      {"native", "fingerprint"},
	      {"native", "problem"},
	      {"native_region", "total"},
	      {"native_region", "counts"},
	      {"native_layout", "step"},
	      {"point", "x"},
	      {"point", "p0"},
	      {"point", "p1"},
	      {"point", "p2"},
	      {"point", "outcome"},
	      {"point", "elapsed_ms"},
	      {"point", "native"},
	      {"point", "words"},
	      {"point", "repeats"},
	      {"finding", "key"},
	      {"finding", "verdict"},
	      {"finding", "kind"},
	      {"finding", "number"},
	      {"finding", "array"},
	      {"finding", "lo"},
	      {"finding", "hi"},
	      {"finding", "unit"},
	      {"probe", "state"}};

/* Words of the size that the point declares, in the encoding of store_words.c's plainest kind: another point's. */
static void swap_words(sqlite3 *db, unsigned a, unsigned b)
{
	char sql[400];

	snprintf(
	    sql, sizeof(sql),
	    "UPDATE point SET (words, repeats, words_per_repeat, outcome) = (SELECT words, repeats, words_per_repeat, "
	    "outcome FROM point LIMIT 1 OFFSET %u %% (SELECT count(*) FROM point)) WHERE (series, number) IN (SELECT "
	    "series, number FROM point LIMIT 1 OFFSET %u %% (SELECT count(*) FROM point))",
	    a, b);
	sqlite3_exec(db, sql, NULL, NULL, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const probes[] = {"barrier", "branch", "registers"};
	static unsigned char *bytes;
	static size_t n;
	char path[] = "/tmp/fathom-fuzz-XXXXXX", said[600];
	const int fd = mkstemp(path);
	bool refused;

	if (!bytes)
		bytes = edit_make_run(probes, sizeof probes / sizeof *probes, &n);
	if (!n || fd < 0)
		abort();
	close(fd);
	sqlite3 *db = edit_copy(bytes, n);
	for (size_t i = 0; i + 4 <= size && i < 64; i += 4) {
		const unsigned place = data[i] % (sizeof places / sizeof *places + 1),
			       row = data[i + 1] | data[i + 2] << 8;
		char number[16];
		snprintf(number, sizeof(number), "%d", (data[i + 3] - 128) * 3);
		if (place == sizeof places / sizeof *places)
			swap_words(db, row, data[i + 3]);
		else
			edit_set(db, places[place].table, places[place].column,
				 data[i + 3] < edit_value_count ? edit_values[data[i + 3]] : number, row % 8 == 7, row);
	}
	if (edit_judge(db, path, &refused, said)) {
		fprintf(stderr, "%s\n", said);
		abort();
	}
	sqlite3_close(db);
	unlink(path);
	return 0;
}
