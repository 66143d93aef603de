/* What every command gets, and the table that the parser, --help, the man page and the shell completion come from.
 *
 * A command returns one of enum cmd_exit. When it failed it has put one sentence into c->error; main.c prints it.
 * Results go to c->out (standard output), progress to c->log (standard error). */
#ifndef FATHOM_CMD_H
#define FATHOM_CMD_H
#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "report/report.h"
#include <stdbool.h>
#include <stdio.h>

enum cmd_exit {
	CMD_OK = 0,
	/* A finding or a probe FAILED, the time limit ended the run, or a published value does not come out. It also
	 * says that runs or cards differ, or that an expectation is contradicted. */
	CMD_INCOMPLETE = 1,
	CMD_USAGE = 2,	/* the command line makes no sense */
	CMD_DEVICE = 3, /* the device or the environment failed: no driver, out of memory, full disk */
	CMD_FILE = 4,	/* a file given to the command is missing, unreadable, damaged or not of its kind */
	CMD_INTERRUPTED = 130
};

struct cmd_option {
	const char *name; /* long name without dashes */
	char letter;	  /* 0 = none */
	const char *arg;  /* "DEVICE", "text|json|csv" (one of these), or NULL: a flag */
	const char *help; /* a sentence without full stop */
	bool many;	  /* may be given again */
	bool required;
	const char *endings; /* ".json .txt": the value may be missing; the next word is it when it ends so */
};

struct cmd_example {
	const char *line, *what;
};

struct cmd_context;

struct cmd_verb {
	const char *name;
	const char *operands;		    /* "FILE.fathom", "[devices|probes|keys|gpus]", or "" */
	int least, most;		    /* how many operands */
	bool words;			    /* what follows the first operand is its own, dashes or not */
	const char *summary;		    /* one line */
	const char *about;		    /* a paragraph or two, for --help and the man page */
	const struct cmd_option *options;   /* ends with a name of NULL */
	const struct cmd_example *examples; /* ends with a line of NULL */
	int (*run)(struct cmd_context *c, int argc, char **argv); /* argv: the operands only; options by cmd_value */
};

extern const struct cmd_verb cmd_verbs[];
extern const size_t cmd_verb_count;
extern const struct cmd_option cmd_common_options[]; /* --help, --version: every command takes them */

struct cmd_given {
	const struct cmd_option *option;
	const char *value; /* NULL for a flag */
};

struct cmd_context {
	const char *build;   /* what this build is: "0.2.0+45893d6" */
	const char *program; /* as it was called, for commands to type next */
	FILE *out, *log;
	struct err error;   /* filled by a command that does not return CMD_OK */
	struct arena arena; /* lives as long as the command */
	const struct cmd_verb *verb;
	struct cmd_given *given;
	size_t given_count;
	struct report_style style; /* of c->out: colour and unicode only on a terminal that wants them */
	bool log_live;		   /* c->log is a terminal that can redraw a line */
	unsigned log_width;
};

/* ---- options as the parser found them ---- */
const char *cmd_value(const struct cmd_context *c, const char *option); /* last value, NULL when not given */
bool cmd_flag(const struct cmd_context *c, const char *option);
/* The i-th value of an option that may be given again, NULL past the last. */
const char *cmd_value_at(const struct cmd_context *c, const char *option, size_t i);
/* A number in [least, most] of an option; `value` is left alone when the option was not given. CMD_OK or CMD_USAGE. */
int cmd_number(struct cmd_context *c, const char *option, double least, double most, double *value);
/* The same of a time, in seconds: "90", "90s", "1.5m", "2h", "500ms". */
int cmd_seconds(struct cmd_context *c, const char *option, double least, double most, double *value);
int cmd_integer(struct cmd_context *c, const char *option, uint64_t *value);
/* --threads, for the simulated GPUs that this process and its children open from now on. CMD_OK or CMD_USAGE. */
int cmd_threads(struct cmd_context *c);
/* What it means that a simulated GPU, by name or file, does not open: a name that is none, or a file that is bad. */
int cmd_gpu_code(const char *gpu, int rc);
/* Sets c->error and returns `code`: `return cmd_fail(c, CMD_FILE, "cannot read %s: %s", path, ...)`. */
int cmd_fail(struct cmd_context *c, enum cmd_exit code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* Writes all of s to c->out. CMD_OK, or CMD_DEVICE when the disk is full and the like. */
int cmd_print(struct cmd_context *c, const struct str *s);

/* ---- options.c, parse.c, help.c ---- */
const struct cmd_verb *cmd_find(const char *name);
const char *cmd_nearest_verb(const char *name);
/* Fills c->given and the operands (their order kept, *argc and *argv replaced). CMD_OK, or CMD_USAGE with c->error. */
int cmd_parse(struct cmd_context *c, const struct cmd_verb *verb, int *argc, char ***argv);
/* width: columns of the terminal, 0 where there is none. */
void help_verb(struct str *out, const struct cmd_verb *v, unsigned width);
void help_program(struct str *out, unsigned width);
/* A word as a shell takes it for one: quoted where it has to be. */
void help_quote(struct str *out, const char *word);
void help_man(struct str *out, const char *version);
/* completion.c: for bash, zsh or fish. False: no such shell. */
bool help_completion(struct str *out, const char *shell);

/* ---- commands ---- */
int cmd_list(struct cmd_context *c, int argc, char **argv);
int cmd_run(struct cmd_context *c, int argc, char **argv);
int cmd_explain(struct cmd_context *c, int argc, char **argv);
int cmd_infer(struct cmd_context *c, int argc, char **argv);
int cmd_report(struct cmd_context *c, int argc, char **argv);
int cmd_export(struct cmd_context *c, int argc, char **argv);
int cmd_fleet(struct cmd_context *c, int argc, char **argv);
int cmd_compare(struct cmd_context *c, int argc, char **argv);
int cmd_reproduce(struct cmd_context *c, int argc, char **argv);
int cmd_sim(struct cmd_context *c, int argc, char **argv);
int cmd_predict(struct cmd_context *c, int argc, char **argv);
int cmd_exec(struct cmd_context *c, int argc, char **argv);

#endif
