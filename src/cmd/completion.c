/* What a shell offers while a command is typed, for bash, zsh and fish, all from the table in options.c. */
#include "cmd/cmd.h"
#include <string.h>

/* What may stand for a placeholder: words of the table, what the program lists, files. */
struct offer {
	const char *words;   /* "text|json": one of these */
	const char *listed;  /* shell commands that print one candidate a line; $prog is the program as it was typed */
	const char *endings; /* of files: ".fathom", "" = any; NULL = no files */
	bool folders;	     /* only these */
};

static const struct {
	const char *arg;
	struct offer offer;
} offers[] = {
    {"DEVICE",
     {.listed = "$prog list devices 2>/dev/null | sed -n 's/^\\([a-z]*:[^ ]*\\).*/\\1/p'; $prog list gpus 2>/dev/null "
		"| sed -n "
		"'s/^\\(sim:[^ ]*\\).*/\\1/p'; echo replay:"}},
    {"NAME|FILE.gpu",
     {.listed = "$prog list gpus 2>/dev/null | sed -n 's/^sim:\\([^ ]*\\).*/\\1/p'", .endings = ".gpu"}},
    {"PROBE,...", {.listed = "$prog list probes 2>/dev/null | sed 's/ .*//'"}},
    {"PAPER", {.listed = "$prog list papers 2>/dev/null | sed 's/ .*//'"}},
    {"KEY|GLOB|WORDS [FILE.fathom]",
     {.listed = "$prog list keys 2>/dev/null | sed -n 's/^\\([a-z][a-z_0-9.]*\\)  .*/\\1/p'", .endings = ".fathom"}},
    {"FILE.fathom", {.endings = ".fathom"}},
    {"FILE.fathom FILE.fathom ...", {.endings = ".fathom"}},
    {"FILE.fathom [FILE.fathom ...]", {.endings = ".fathom"}},
    {"KERNEL.ptx", {.endings = ".ptx"}},
    {"DIR", {.endings = "", .folders = true}},
};

static struct offer offer_of(const char *arg)
{
	static const char *const nothing[] = {"N", "S", "TIME", "G", "B", "ARG", "BYTES"};

	for (size_t i = 0; i < sizeof(offers) / sizeof(offers[0]); i++)
		if (strcmp(offers[i].arg, arg) == 0)
			return offers[i].offer;
	for (size_t i = 0; i < sizeof(nothing) / sizeof(nothing[0]); i++)
		if (strcmp(nothing[i], arg) == 0)
			return (struct offer){.words = ""};
	if ((arg[0] >= 'a' && arg[0] <= 'z') || arg[0] == '[')
		return (struct offer){.words = arg};
	return (struct offer){.endings = ""};
}

/* "[devices|probes]" and "devices|probes" as "devices probes". */
static void words_of(struct str *out, const char *words)
{
	for (; *words; words++)
		if (!strchr("[]", *words))
			str_addc(out, *words == '|' ? ' ' : *words);
}

/* ---- bash ---- */

/* A colon parts words in bash. What is typed is therefore taken from the line itself, and what stands before the last
 * colon is taken off again. */
static const char bash_head[] = "# bash completion for fathom, made from its table of options\n"
				"_fathom_words() { local IFS=$'\\n'; COMPREPLY+=($(compgen -W \"$1\" -- \"$cur\")); }\n"
				"_fathom_files() {\n"
				"\tlocal IFS=$'\\n'\n"
				"\t[[ -z $1 ]] || COMPREPLY+=($(compgen -f -X \"!*$1\" -- \"$cur\"))\n"
				"\t[[ -n $1 || -n $2 ]] || COMPREPLY+=($(compgen -f -- \"$cur\"))\n"
				"\tCOMPREPLY+=($(compgen -d -S / -- \"$cur\"))\n"
				"\tcompopt -o nospace\n"
				"}\n"
				"_fathom()\n{\n"
				"\tlocal line=${COMP_LINE:0:COMP_POINT} prog=${COMP_WORDS[0]} cur prev verb\n"
				"\tcur=${line##*[[:space:]]}\n"
				"\tlocal before=(${line%\"$cur\"})\n"
				"\tprev=${before[-1]} verb=${before[1]}\n"
				"\tCOMPREPLY=()\n"
				"\tif ((${#before[@]} == 1)); then\n\t\t_fathom_words $'";

static void bash_offer(struct str *out, const char *arg)
{
	const struct offer o = offer_of(arg);

	if (o.words) {
		str_add(out, "_fathom_words \"$(printf '%s\\n' ");
		words_of(out, o.words);
		str_add(out, ")\"");
		return;
	}
	if (o.listed)
		str_addf(out, "_fathom_words \"$(%s)\"", o.listed);
	if (o.endings)
		str_addf(out, "%s_fathom_files '%s'%s", o.listed ? "; " : "", o.endings, o.folders ? " only" : "");
}

/* How a shell is told of words. */
struct shell {
	void (*offer)(struct str *out, const char *operand); /* what an operand or an option's argument may be */
	const char *words, *words_end;			     /* around words that are offered */
};

/* One command: what follows each option, then all options, then the operands. */
static void shell_verb(struct str *out, const struct cmd_verb *v, const struct shell *s)
{
	const struct cmd_option *tables[] = {v->options, cmd_common_options};

	str_addf(out, "\t%s)\n\t\tcase $prev in\n", v->name);
	for (const struct cmd_option *o = v->options; o->name; o++) {
		if (!o->arg)
			continue;
		str_addf(out, "\t\t--%s", o->name);
		if (o->letter)
			str_addf(out, "|-%c", o->letter);
		str_add(out, ") ");
		s->offer(out, o->arg);
		str_add(out, " ;;\n");
	}
	str_addf(out, "\t\t*) if [[ $cur == -* ]]; then %s", s->words);
	for (size_t t = 0; t < 2; t++)
		for (const struct cmd_option *o = tables[t]; o->name; o++)
			str_addf(out, " --%s", o->name);
	str_addf(out, "%s; else ", s->words_end);
	if (*v->operands)
		s->offer(out, v->operands);
	else
		str_add(out, ":");
	str_add(out, "; fi ;;\n\t\tesac ;;\n");
}

static void bash(struct str *out)
{
	str_add(out, bash_head);
	for (size_t i = 0; i < cmd_verb_count; i++)
		str_addf(out, "%s\\n", cmd_verbs[i].name);
	str_add(out, "help\\n--help\\n--version'\n\tfi\n\t((${#before[@]} == 1)) || case $verb in\n");
	for (size_t i = 0; i < cmd_verb_count; i++)
		shell_verb(out, &cmd_verbs[i], &(struct shell){bash_offer, "_fathom_words \"$(printf '%s\\n'", ")\""});
	str_add(out, "\tesac\n"
		     "\tif [[ $cur == *:* && $COMP_WORDBREAKS == *:* ]]; then\n"
		     "\t\tlocal stem=${cur%\"${cur##*:}\"}\n\t\tCOMPREPLY=(\"${COMPREPLY[@]#\"$stem\"}\")\n\tfi\n"
		     "}\ncomplete -F _fathom fathom\n");
}

/* ---- zsh ---- */

static void zsh_offer(struct str *out, const char *arg)
{
	const struct offer o = offer_of(arg);

	if (o.words) {
		str_add(out, "compadd -- ");
		words_of(out, o.words);
	}
	if (o.listed)
		str_addf(out, "compadd -- ${(f)\"$(%s)\"}", o.listed);
	if (o.endings)
		str_addf(out, o.folders ? "%s_files -/" : "%s_files -g '*%s'", o.listed ? "; " : "", o.endings);
}

static void zsh(struct str *out)
{
	str_add(out, "#compdef fathom\n# zsh completion for fathom, made from its table of options\n"
		     "_fathom() {\n\tlocal prog=${words[1]} prev=${words[CURRENT-1]} cur=${words[CURRENT]}\n"
		     "\tif ((CURRENT == 2)); then\n\t\tcompadd -- help");
	for (size_t i = 0; i < cmd_verb_count; i++)
		str_addf(out, " %s", cmd_verbs[i].name);
	str_add(out, "\n\t\treturn\n\tfi\n\tcase ${words[2]} in\n");
	for (size_t i = 0; i < cmd_verb_count; i++)
		shell_verb(out, &cmd_verbs[i], &(struct shell){zsh_offer, "compadd --", ""});
	str_add(out, "\tesac\n}\n_fathom \"$@\"\n");
}

/* ---- fish ---- */

/* Text between single quotes. */
static void fish_quote(struct str *out, const char *text)
{
	str_addc(out, '\'');
	for (; *text; text++) {
		if (strchr("'\\", *text))
			str_addc(out, '\\');
		str_addc(out, *text);
	}
	str_addc(out, '\'');
}

static void fish_offer(struct str *out, const char *arg)
{
	const struct offer o = offer_of(arg);
	struct str list;

	str_init(&list);
	if (o.words)
		words_of(&list, o.words);
	if (o.listed)
		str_addf(&list, "(set prog (commandline -opc)[1]; %s)", o.listed);
	if (o.endings && !o.folders)
		str_addf(&list, "%s(__fish_complete_suffix %s)", list.len ? " " : "", *o.endings ? o.endings : "''");
	if (o.folders)
		str_add(&list, "(__fish_complete_directories)");
	if (list.len) {
		str_add(out, " -a ");
		fish_quote(out, str_text(&list));
	}
	out->failed |= list.failed;
	str_free(&list);
}

static void fish(struct str *out)
{
	str_add(out, "# fish completion for fathom, made from its table of options\ncomplete -c fathom -f\n"
		     "complete -c fathom -n __fish_use_subcommand -a help -d 'explain a command'\n");
	for (size_t i = 0; i < cmd_verb_count; i++) {
		const struct cmd_verb *v = &cmd_verbs[i];
		const struct cmd_option *tables[] = {v->options, cmd_common_options};

		str_addf(out, "complete -c fathom -n __fish_use_subcommand -a %s -d ", v->name);
		fish_quote(out, v->summary);
		str_addc(out, '\n');
		for (size_t t = 0; t < 2; t++)
			for (const struct cmd_option *o = tables[t]; o->name; o++) {
				str_addf(out, "complete -c fathom -n '__fish_seen_subcommand_from %s' -l %s", v->name,
					 o->name);
				if (o->letter)
					str_addf(out, " -s %c", o->letter);
				if (o->arg) {
					str_add(out, " -x");
					fish_offer(out, o->arg);
				}
				str_addc(out, '\n');
			}
		if (*v->operands) {
			str_addf(out, "complete -c fathom -n '__fish_seen_subcommand_from %s'", v->name);
			fish_offer(out, v->operands);
			str_addc(out, '\n');
		}
	}
}

bool help_completion(struct str *out, const char *shell)
{
	static const struct {
		const char *shell;
		void (*write)(struct str *out);
	} shells[] = {{"bash", bash}, {"zsh", zsh}, {"fish", fish}};

	for (size_t i = 0; i < sizeof(shells) / sizeof(shells[0]); i++)
		if (strcmp(shells[i].shell, shell) == 0) {
			shells[i].write(out);
			return true;
		}
	return false;
}
