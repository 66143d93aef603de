/* The command line of one command, read by its table. */
#include "cmd/cmd.h"
#include <string.h>

static const struct cmd_option *by_letter(const struct cmd_verb *v, char letter)
{
	const struct cmd_option *tables[] = {v->options, cmd_common_options};

	for (size_t t = 0; t < 2; t++)
		for (const struct cmd_option *o = tables[t]; o->name; o++)
			if (o->letter && o->letter == letter)
				return o;
	return NULL;
}

static const struct cmd_option *by_name(const struct cmd_verb *v, const char *name, size_t n)
{
	const struct cmd_option *tables[] = {v->options, cmd_common_options};

	for (size_t t = 0; t < 2; t++)
		for (const struct cmd_option *o = tables[t]; o->name; o++)
			if (strlen(o->name) == n && memcmp(o->name, name, n) == 0)
				return o;
	return NULL;
}

#define NAMES_MAX 32

static int unknown_option(struct cmd_context *c, const struct cmd_verb *v, const char *word)
{
	const struct cmd_option *tables[] = {v->options, cmd_common_options};
	const char *names[NAMES_MAX], *near = NULL;
	size_t n = 0;

	for (size_t t = 0; t < 2; t++)
		for (const struct cmd_option *o = tables[t]; o->name && n < NAMES_MAX; o++)
			names[n++] = o->name;
	if (str_starts(word, "--")) {
		size_t len = strcspn(word + 2, "=");
		char name[64];

		if (len < sizeof(name)) {
			memcpy(name, word + 2, len);
			name[len] = 0;
			near = str_nearest(name, names, n);
		}
	}
	if (near)
		return cmd_fail(c, CMD_USAGE, "%s has no option '%s'; did you mean --%s?", v->name, word, near);
	return cmd_fail(c, CMD_USAGE, "%s has no option '%s'; `fathom %s --help` lists them", v->name, word, v->name);
}

/* "text|json|csv": the words that an option takes. An argument name in capitals takes anything. */
static int check_choice(struct cmd_context *c, const struct cmd_option *o, const char *value)
{
	if (!strchr(o->arg, '|') || (o->arg[0] >= 'A' && o->arg[0] <= 'Z'))
		return CMD_OK;
	/* markdown is for doc/results, not one of the formats that the synopsis advertises. */
	if (strcmp(value, "markdown") == 0 && strcmp(o->name, "format") == 0)
		return CMD_OK;
	for (const char *p = o->arg; *p;) {
		size_t n = strcspn(p, "|");

		if (strlen(value) == n && memcmp(p, value, n) == 0)
			return CMD_OK;
		p += n + (p[n] != 0);
	}
	return cmd_fail(c, CMD_USAGE, "--%s takes one of %s, not '%s'", o->name, o->arg, value);
}

static int take(struct cmd_context *c, const struct cmd_verb *v, const struct cmd_option *o, const char *value)
{
	int rc;

	if (o->arg && !value && !o->endings)
		return cmd_fail(c, CMD_USAGE, "--%s needs a value: %s --%s %s", o->name, v->name, o->name, o->arg);
	if (!o->arg && value)
		return cmd_fail(c, CMD_USAGE, "--%s takes no value", o->name);
	if (o->arg && value && !*value)
		return cmd_fail(c, CMD_USAGE, "--%s was given an empty value; it takes %s", o->name, o->arg);
	if (!o->many && cmd_flag(c, o->name))
		return cmd_fail(c, CMD_USAGE, "--%s was given twice", o->name);
	rc = value ? check_choice(c, o, value) : CMD_OK;
	if (rc)
		return rc;
	c->given[c->given_count++] = (struct cmd_given){.option = o, .value = value};
	return CMD_OK;
}

static bool ends_so(const char *endings, const char *word)
{
	while (*endings) {
		size_t n = strcspn(endings, " "), len = strlen(word);

		if (len > n && memcmp(word + len - n, endings, n) == 0)
			return true;
		endings += n + (endings[n] == ' ');
	}
	return false;
}

/* One word that starts with a dash; *i moves past a value in the next word. */
static int take_word(struct cmd_context *c, const struct cmd_verb *v, char **argv, int argc, int *i)
{
	const char *word = argv[*i];
	const struct cmd_option *o;
	const char *value = NULL;

	if (word[1] == '-') {
		size_t n = strcspn(word + 2, "=");

		o = by_name(v, word + 2, n);
		if (word[2 + n])
			value = word + 2 + n + 1;
	} else {
		o = by_letter(v, word[1]);
		if (o && word[2]) {
			if (!o->arg)
				return unknown_option(c, v, word);
			value = word + 2;
		}
	}
	if (!o)
		return unknown_option(c, v, word);
	if (o->arg && !value && *i + 1 < argc && (!o->endings || ends_so(o->endings, argv[*i + 1])))
		value = argv[++*i];
	return take(c, v, o, value);
}

int cmd_parse(struct cmd_context *c, const struct cmd_verb *verb, int *argc, char ***argv)
{
	size_t words = (size_t)(*argc > 0 ? *argc : 0);
	const struct cmd_option *unlike = NULL; /* a word stands behind it that is no file of its own */
	bool options_end = false;
	char **operands;
	int n = 0;

	c->verb = verb;
	c->given_count = 0;
	c->given = ARENA_ARRAY(&c->arena, words + 1, struct cmd_given);
	operands = ARENA_ARRAY(&c->arena, words + 1, char *);
	if (!c->given || !operands)
		return cmd_fail(c, CMD_DEVICE, "out of memory");
	for (int i = 0; i < *argc; i++) {
		char *word = (*argv)[i];

		if (!options_end && strcmp(word, "--") == 0) {
			options_end = true;
		} else if (!options_end && word[0] == '-' && word[1]) {
			int rc = take_word(c, verb, *argv, *argc, &i);

			if (rc)
				return rc;
		} else {
			operands[n++] = word;
			options_end = options_end || verb->words;
			if (i && c->given_count && !c->given[c->given_count - 1].value &&
			    c->given[c->given_count - 1].option->endings && (*argv)[i - 1][0] == '-')
				unlike = c->given[c->given_count - 1].option;
		}
	}
	*argc = n;
	*argv = operands;
	if (cmd_flag(c, "help") || cmd_flag(c, "version"))
		return CMD_OK;
	if (n < verb->least)
		return cmd_fail(c, CMD_USAGE, "%s needs %s; `fathom %s --help` shows examples", verb->name,
				verb->operands, verb->name);
	if (n > verb->most && unlike)
		return cmd_fail(c, CMD_USAGE, "--%s takes a file whose name ends in %s, not '%s'", unlike->name,
				unlike->endings, operands[verb->most]);
	if (n > verb->most)
		return cmd_fail(c, CMD_USAGE,
				"%s does not know what to do with '%s'; `fathom %s --help` shows examples", verb->name,
				operands[verb->most], verb->name);
	for (const struct cmd_option *o = verb->options; o->name; o++)
		if (o->required && !cmd_flag(c, o->name))
			return cmd_fail(c, CMD_USAGE, "%s needs --%s %s; `fathom %s --help` shows examples", verb->name,
					o->name, o->arg, verb->name);
	return CMD_OK;
}
