#include "kernel/kernel.h"
#include "base/embed.h"
#include "kernel/program.h"
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define DEPTH_MAX   16
#define MACROS_MAX  8
#define SKIPPED	    64		       /* blocks of which is known where they end, by where they begin */
#define EXPRESSIONS 256		       /* that are read once, by where they stand; a power of two */
#define OUTPUT_MAX  ((size_t)32 << 20) /* a runaway #repeat is our bug, not a reason to eat the machine's memory */

/* A place in one template. Lines are read from here; #repeat goes back to it. */
struct cursor {
	const char *name, *at, *end;
	unsigned line; /* of the line read last */
};

/* Lines that #put puts where they are wanted: from behind their #macro on. */
struct macro {
	const char *name;
	size_t length;
	struct cursor from;
};

enum ending { ENDS_AT_EOF, ENDS_AT_ELSE, ENDS_AT_END };

/* A block that was read and not wanted: where it begins, and what stands behind it. It is the same every time a #repeat comes to it. */
struct skipped {
	const char *from;
	struct cursor to;
	enum ending ending;
};

/* An expression that was read: it always has the same variables around it, as long as it stands in the template itself. */
struct expression {
	const char *from;
	enum { EXPRESSION_FIXED, EXPRESSION_STEPS, EXPRESSION_TEXT } kind;
	int64_t value; /* FIXED */
	struct program program;
};

struct expansion {
	struct str *out;
	struct scope scope;
	struct err *e;
	unsigned depth;
	const char *dialect; /* "ptx" or "cl": the ending of included texts */
	struct macro macros[MACROS_MAX];
	size_t macro_count;
	struct skipped skipped[SKIPPED];
	unsigned borrowed; /* > 0 in what #include and #put bring, which may stand in several places */
	unsigned expression_count;
	struct expression expressions[EXPRESSIONS];
};

static int block(struct expansion *x, struct cursor *c, bool active, enum ending *ending);

static int located(struct expansion *x, const struct cursor *c, int rc)
{
	return rc == -EINVAL ? err_prefix(x->e, "%s:%u", c->name, c->line), rc : rc;
}

/* A #repeat variable is somewhere in it, if only in a text. */
static bool has_variable(const struct scope *sc, const char *s, const char *end)
{
	for (size_t n; s < end; s += n ? n : 1) {
		n = scope_name(s, end);
		for (size_t i = 0; n && i < sc->var_count; i++)
			if (strlen(sc->var[i].name) == n && memcmp(sc->var[i].name, s, n) == 0)
				return true;
	}
	return false;
}

/* As scope_eval; what is evaluated for every round of a #repeat is read once. */
static int evaluate(struct expansion *x, const char *s, const char *end, int64_t *value)
{
	size_t i = (uintptr_t)s % EXPRESSIONS;

	while (x->expressions[i].from && x->expressions[i].from != s)
		i = (i + 1) % EXPRESSIONS;
	struct expression *known = &x->expressions[i];
	if (x->borrowed || (!known->from && x->expression_count == EXPRESSIONS / 2))
		return scope_eval(&x->scope, s, end, value, x->e);
	if (!known->from) {
		int rc = scope_eval(&x->scope, s, end, value, x->e);
		if (rc)
			return rc;
		known->from = s;
		known->value = *value;
		known->kind = !has_variable(&x->scope, s, end)			 ? EXPRESSION_FIXED
			      : program_make(&known->program, &x->scope, s, end) ? EXPRESSION_STEPS
										 : EXPRESSION_TEXT;
		x->expression_count++;
		return 0;
	}
	*value = known->value;
	if (known->kind == EXPRESSION_FIXED ||
	    (known->kind == EXPRESSION_STEPS && program_run(&known->program, &x->scope, value)))
		return 0;
	return scope_eval(&x->scope, s, end, value, x->e);
}

/* Expands $name, ${name} and $(expr) in [s, end) and adds the result with a newline. */
static int substitute(struct expansion *x, const char *s, const char *end)
{
	while (s < end) {
		const char *dollar = memchr(s, '$', (size_t)(end - s));
		str_addn(x->out, s, (size_t)((dollar ? dollar : end) - s));
		if (!dollar)
			break;
		s = dollar + 1;
		if (s < end && *s == '(') {
			const char *from = s;
			int open = 0;
			int64_t value;
			do {
				if (s == end)
					return err_set(x->e, -EINVAL, "')' is missing after '$('");
				open += (*s == '(') - (*s == ')');
				s++;
			} while (open);
			int rc = evaluate(x, from, s, &value);
			if (rc)
				return rc;
			str_addf(x->out, "%lld", (long long)value);
			continue;
		}
		bool braced = s < end && *s == '{';
		s += braced;
		size_t n = scope_name(s, end);
		char own[24];
		if (n == 0 || (braced && (s + n == end || s[n] != '}')))
			return err_set(x->e, -EINVAL, "after '$' a name, {name} or (expression) is needed");
		const char *text = scope_text(&x->scope, s, n, own);
		if (!text) {
			char known[256];
			scope_names(&x->scope, known, sizeof(known));
			return err_set(x->e, -EINVAL, "unknown parameter '%.*s' (known: %s)", (int)n, s, known);
		}
		str_add(x->out, text);
		s += n + braced;
	}
	str_addc(x->out, '\n');
	if (x->out->failed)
		return err_nomem(x->e);
	if (x->out->len > OUTPUT_MAX)
		return err_set(x->e, -EINVAL, "the expanded kernel is larger than %zu bytes", OUTPUT_MAX);
	return 0;
}

/* Next line without its comment and blanks at both ends. */
static bool next_line(struct cursor *c, const char **from, const char **to)
{
	if (c->at >= c->end)
		return false;
	const char *nl = memchr(c->at, '\n', (size_t)(c->end - c->at));
	const char *s = c->at, *e = nl ? nl : c->end;

	c->at = nl ? nl + 1 : c->end;
	c->line++;
	for (const char *p = s; p + 1 < e && (p = memchr(p, '/', (size_t)(e - 1 - p))); p++) {
		if (p[1] == '/') {
			e = p;
			break;
		}
	}
	while (e > s && isspace((unsigned char)e[-1]))
		e--;
	while (s < e && isspace((unsigned char)*s))
		s++;
	*from = s;
	*to = e;
	return true;
}

static bool word(const char **s, const char *end, const char *w)
{
	size_t n = strlen(w);

	if (*s == end || **s != *w || (size_t)(end - *s) < n || memcmp(*s, w, n) != 0 ||
	    (*s + n < end && !isspace((unsigned char)(*s)[n]) && (*s)[n] != '('))
		return false;
	*s += n;
	while (*s < end && isspace((unsigned char)**s))
		(*s)++;
	return true;
}

static int must_end(struct expansion *x, const struct cursor *c, const char *what, enum ending got)
{
	if (got == ENDS_AT_END)
		return 0;
	err_set(x->e, -EINVAL, got == ENDS_AT_ELSE ? "#else without #if" : "'%s' has no #end", what);
	return located(x, c, -EINVAL);
}

static int repeat(struct expansion *x, struct cursor *c, const char *s, const char *end, bool active)
{
	struct cursor here = *c;
	int64_t count = 0;
	size_t var = 0;
	enum ending ending = ENDS_AT_END;
	int rc = 0;

	/* the variable, when there is one, is a last word that is not part of the expression before it */
	const char *v = end;
	while (v > s && (isalnum((unsigned char)v[-1]) || v[-1] == '_'))
		v--;
	const char *before = v;
	while (before > s && isspace((unsigned char)before[-1]))
		before--;
	if (v < end && scope_name(v, end) == (size_t)(end - v) && before < v && before > s &&
	    (isalnum((unsigned char)before[-1]) || before[-1] == '_' || before[-1] == ')'))
		var = (size_t)(end - v);
	if (active) {
		rc = evaluate(x, s, var ? before : end, &count);
		if (!rc && (count < 0 || count > 1000000))
			rc = err_set(x->e, -EINVAL, "#repeat %lld: the count must be 0 to 1000000", (long long)count);
		if (!rc && var && (x->scope.var_count == SCOPE_VARS || var >= sizeof(x->scope.var[0].name)))
			rc = err_set(x->e, -EINVAL, "too many or too long #repeat variables");
		if (rc)
			return located(x, c, rc);
	}
	if (!count)
		rc = block(x, c, false, &ending);
	if (var && count) {
		struct scope_var *sv = &x->scope.var[x->scope.var_count++];
		*sv = (struct scope_var){.value = 0};
		memcpy(sv->name, v, var);
	}
	for (int64_t i = 0; !rc && i < count; i++) {
		if (var)
			x->scope.var[x->scope.var_count - 1].value = i;
		*c = here;
		rc = block(x, c, true, &ending);
		if (!rc && ending != ENDS_AT_END)
			break;
	}
	x->scope.var_count -= var && count;
	return rc ? rc : must_end(x, &here, "#repeat", ending);
}

static int condition(struct expansion *x, struct cursor *c, const char *s, const char *end, bool active)
{
	struct cursor here = *c;
	int64_t yes = 0;
	enum ending ending;
	int rc = active ? evaluate(x, s, end, &yes) : 0;

	if (rc)
		return located(x, c, rc);
	rc = block(x, c, active && yes, &ending);
	if (!rc && ending == ENDS_AT_ELSE)
		rc = block(x, c, active && !yes, &ending);
	return rc ? rc : must_end(x, &here, "#if", ending);
}

static int include(struct expansion *x, struct cursor *c, const char *s, const char *end)
{
	char path[96];
	int n = snprintf(path, sizeof(path), "src/kernel/%.*s.%s", (int)(end - s), s, x->dialect);
	const struct embedded *f = n > 0 && (size_t)n < sizeof(path) ? embed_find(path) : NULL;

	if (!f || scope_name(s, end) != (size_t)(end - s)) {
		err_set(x->e, -EINVAL, "#include %.*s: there is no such text", (int)(end - s), s);
		return located(x, c, -EINVAL);
	}
	struct cursor inner = {.name = path, .at = f->data, .end = f->data + f->size};
	enum ending ending;
	x->borrowed++;
	int rc = block(x, &inner, true, &ending);
	x->borrowed--;
	if (!rc && ending != ENDS_AT_EOF) {
		err_set(x->e, -EINVAL, "#end or #else without its beginning");
		rc = located(x, &inner, -EINVAL);
	}
	return rc;
}

static const struct macro *find_macro(const struct expansion *x, const char *s, const char *end)
{
	for (size_t i = 0; i < x->macro_count; i++)
		if (x->macros[i].length == (size_t)(end - s) && memcmp(x->macros[i].name, s, x->macros[i].length) == 0)
			return &x->macros[i];
	return NULL;
}

/* Only read here: what stands in it means something where it is put. */
static int define(struct expansion *x, struct cursor *c, const char *s, const char *end, bool active)
{
	const struct cursor here = *c;
	enum ending ending;
	int rc = 0;

	if (active && (s == end || scope_name(s, end) != (size_t)(end - s)))
		rc = err_set(x->e, -EINVAL, "#macro needs a name");
	else if (active && find_macro(x, s, end))
		rc = err_set(x->e, -EINVAL, "there are two macros %.*s", (int)(end - s), s);
	else if (active && x->macro_count == MACROS_MAX)
		rc = err_set(x->e, -EINVAL, "more than %d macros", MACROS_MAX);
	if (rc)
		return located(x, c, rc);
	if (active)
		x->macros[x->macro_count++] = (struct macro){.name = s, .length = (size_t)(end - s), .from = here};
	rc = block(x, c, false, &ending);
	return rc ? rc : must_end(x, &here, "#macro", ending);
}

static int put(struct expansion *x, struct cursor *c, const char *s, const char *end)
{
	const struct macro *m = find_macro(x, s, end);
	enum ending ending;

	if (!m) {
		err_set(x->e, -EINVAL, "#put %.*s: there is no such macro", (int)(end - s), s);
		return located(x, c, -EINVAL);
	}
	struct cursor inner = m->from;
	x->borrowed++;
	int rc = block(x, &inner, true, &ending); /* it ends well: #macro read it */
	x->borrowed--;
	return rc;
}

/* Lines up to the #else, #end or end of text that closes this block. Inactive blocks are only read. */
static int block(struct expansion *x, struct cursor *c, bool active, enum ending *ending)
{
	struct skipped *known = &x->skipped[(uintptr_t)c->at % SKIPPED];
	const char *from = c->at, *s, *end;
	int rc = 0;

	*ending = ENDS_AT_EOF;
	if (!active && known->from == from) {
		*c = known->to;
		*ending = known->ending;
		return 0;
	}
	if (x->depth >= DEPTH_MAX) {
		err_set(x->e, -EINVAL, "nested too deeply");
		return located(x, c, -EINVAL);
	}
	x->depth++;
	while (!rc && next_line(c, &s, &end)) {
		if (s == end || *s != '#' || str_starts(s, "#pragma ")) {
			if (active)
				rc = located(x, c, substitute(x, s, end));
			continue;
		}
		const char *text = s++;
		if (word(&s, end, "repeat")) {
			rc = repeat(x, c, s, end, active);
		} else if (word(&s, end, "if")) {
			rc = condition(x, c, s, end, active);
		} else if (word(&s, end, "include")) {
			rc = active ? include(x, c, s, end) : 0;
		} else if (word(&s, end, "macro")) {
			rc = define(x, c, s, end, active);
		} else if (word(&s, end, "put")) {
			rc = active ? put(x, c, s, end) : 0;
		} else if (word(&s, end, "else") && s == end) {
			*ending = ENDS_AT_ELSE;
			break;
		} else if (word(&s, end, "end") && s == end) {
			*ending = ENDS_AT_END;
			break;
		} else {
			err_set(x->e, -EINVAL, "unknown directive '%.*s'", (int)(end - text), text);
			rc = located(x, c, -EINVAL);
		}
	}
	x->depth--;
	if (!active && !rc)
		*known = (struct skipped){.from = from, .to = *c, .ending = *ending};
	return rc;
}

const struct embedded *kernel_text(const char *path, const char *dialect)
{
	char other[128];
	const char *dot = strrchr(path, '.');
	if (!dot || snprintf(other, sizeof other, "%.*s.%s", (int)(dot - path), path, dialect) >= (int)sizeof other)
		return embed_find(path);
	return embed_find(other);
}

bool kernel_has_text(const char *folder, const char *dialect)
{
	size_t n = strlen(folder);
	for (size_t i = 0; i < embedded_count; i++) {
		const char *path = embedded_files[i].path, *dot = strrchr(path, '.');
		if (strncmp(path, folder, n) == 0 && path[n] == '/' && dot && strcmp(dot + 1, dialect) == 0)
			return true;
	}
	return false;
}

static void own(struct scope *sc, const char *name, const char *text)
{
	struct kernel_param *p = &sc->own[sc->own_count++];

	snprintf(p->name, sizeof(p->name), "%s", name);
	snprintf(p->text, sizeof(p->text), "%s", text);
}

int kernel_expand(struct str *out, const char *name, const char *text, size_t size, const struct kernel_param *params,
		  size_t n, const struct device_info *device, struct err *e)
{
	struct err unused;
	struct expansion x = {
	    .out = out, .scope = {.params = params, .param_count = n}, .e = e ? e : &unused, .dialect = "ptx"};
	struct cursor c = {.name = name, .at = text, .end = text + size};
	enum ending ending;
	char number[24];

	snprintf(number, sizeof(number), "%d", device->cc);
	own(&x.scope, "CC", number);
	own(&x.scope, "RN", device->cc >= 20 ? ".rn" : "");
	snprintf(number, sizeof(number), "%u", device->warp_size);
	own(&x.scope, "WARP", number);
	const bool cl = strcmp(device->dialect, "cl") == 0;
	x.dialect = cl ? "cl" : x.dialect;
	own(&x.scope, "FMA", cl ? device->has_fma ? "fma" : "mad" : device->has_fma ? "fma.rn.f32" : "mad.f32");
	if (!cl)
		str_addf(out, ".version %d.%d\n.target %s\n.address_size 64\n", device->ptx_version / 10,
			 device->ptx_version % 10, device->target);
	int rc = block(&x, &c, true, &ending);
	if (!rc && ending != ENDS_AT_EOF) {
		err_set(x.e, -EINVAL, ending == ENDS_AT_ELSE ? "#else without #if" : "#end without a beginning");
		rc = located(&x, &c, -EINVAL);
	}
	if (!rc && out->failed)
		rc = err_nomem(e);
	return rc;
}

int kernel_expand_own(struct str *out, const char *path, const struct device_info *device, struct err *e)
{
	const struct embedded *f = kernel_text(path, device->dialect);
	return f ? kernel_expand(out, path, f->data, f->size, NULL, 0, device, e)
		 : err_set(e, -ENOENT, "%s is not there", path);
}
