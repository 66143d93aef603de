/* doc/gpu-file.md describes exactly the keys that the reader knows, with their units and defaults. */
#include "base/str.h"
#include "gpu/sim/spec_file.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const char *doc_path;

/* Cell `i` of a row of a table, trimmed. */
static void cell(char *out, size_t n, const char *row, unsigned i)
{
	out[0] = '\0';
	for (row++; i > 0; i--) {
		row = strchr(row, '|');
		if (!row)
			return;
		row++;
	}
	size_t len = strcspn(row, "|");
	while (len && *row == ' ') {
		row++;
		len--;
	}
	while (len && row[len - 1] == ' ')
		len--;
	snprintf(out, n, "%.*s", (int)len, row);
}

/* The row of a key in the page, or nothing. Counts all rows of keys. */
static bool find_row(FILE *in, const char *key, char *out, size_t n, unsigned *rows)
{
	char line[2048], first[128], quoted[128];
	bool found = false, table = false;
	snprintf(quoted, sizeof quoted, "`%s`", key);
	rewind(in);
	*rows = 0;
	while (fgets(line, sizeof line, in)) {
		if (str_starts(line, "| key | unit | default |"))
			table = true;
		else if (line[0] != '|')
			table = false;
		if (!table || !str_starts(line, "| `"))
			continue;
		++*rows;
		cell(first, sizeof first, line, 0);
		if (strcmp(first, quoted) != 0)
			continue;
		if (found)
			fail_msg("%s has two rows", key);
		found = true;
		snprintf(out, n, "%s", line);
	}
	return found;
}

static void the_page_and_the_table_agree(void **state)
{
	(void)state;
	FILE *in = fopen(doc_path, "r");
	assert_non_null(in);
	unsigned rows = 0;
	for (size_t i = 0; i < spec_key_count; i++) {
		const struct spec_key *k = &spec_keys[i];
		char row[2048], unit[64], fallback[64], meaning[1024];
		if (!find_row(in, k->pattern, row, sizeof row, &rows))
			fail_msg("the page does not describe %s", k->pattern);
		cell(unit, sizeof unit, row, 1);
		cell(fallback, sizeof fallback, row, 2);
		cell(meaning, sizeof meaning, row, 3);
		assert_string_equal(unit, spec_dim_name(k->dim));
		assert_string_equal(fallback, !k->fallback ? "required" : k->fallback[0] ? k->fallback : "-");
		assert_true(strlen(meaning) > 10);
		for (const char *w = k->words; w && *w;) { /* each word that the key may be */
			char word[32];
			size_t n = strcspn(w, " ");
			snprintf(word, sizeof word, "%.*s", (int)n, w);
			if (!strstr(meaning, word))
				fail_msg("the page does not say that %s may be %s", k->pattern, word);
			w += n + (w[n] == ' ');
		}
	}
	assert_int_equal(rows, spec_key_count); /* no row of a key that does not exist */
	fclose(in);
}

static void every_unit_is_described(void **state)
{
	(void)state;
	FILE *in = fopen(doc_path, "r");
	assert_non_null(in);
	char page[65536];
	size_t n = fread(page, 1, sizeof page - 1, in);
	page[n] = '\0';
	fclose(in);
	const char *list = spec_unit_list();
	char unit[32], quoted[40];
	while (spec_item(&list, unit, sizeof unit)) {
		enum spec_dim dim;
		double scale;
		assert_true(spec_unit(unit, &dim, &scale));
		snprintf(quoted, sizeof quoted, "`%s`", unit);
		if (!strstr(page, quoted))
			fail_msg("the page does not describe the unit %s", unit);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_page_and_the_table_agree),
	    cmocka_unit_test(every_unit_is_described),
	};
	if (argc != 2)
		return 2;
	doc_path = argv[1];
	return cmocka_run_group_tests(tests, NULL, NULL);
}
