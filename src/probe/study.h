/* One probe being pursued on one run. Internal to this room. */
#ifndef FATHOM_STUDY_H
#define FATHOM_STUDY_H
#include "base/arena.h"
#include "base/err.h"
#include "base/set.h"
#include "data/run.h"
#include "probe/probe.h"

struct wish {
	unsigned experiment;
	double x, p[POINT_PARAMS];
};

#define STUDY_KEPT 256 /* lists of what passes leave, a power of two */

enum study_mode {
	STUDY_MEASURE, /* a missing point is wished for */
	STUDY_INFER,   /* a missing point stays missing */
	STUDY_DRAW,    /* as INFER, and the probe's own findings can be read */
};

struct study {
	const struct probe *probe;
	struct run *run;
	enum study_mode mode;
	struct arena scratch;	       /* of this pass */
	struct finding_list concluded; /* in this pass */
	struct wish *wishes;	       /* of this pass, each once */
	size_t wish_count, wish_cap;
	bool quick;	  /* points of thorough experiments can not be had */
	bool for_figures; /* of a paper */
	/* FORESEES: the device compiles in the background, and what is likely counts. AHEAD: what the rest of this pass asks for is only likely. */
	enum { STUDY_BLIND, STUDY_FORESEES, STUDY_AHEAD } sight;
	struct wish *likely; /* of this pass, points that later ones may wish for; none that was told before */
	size_t likely_count, likely_cap;
	struct hash_set told;	      /* all points that were told as likely */
	size_t missing;		      /* asks of this pass for points that are still to be measured */
	const struct series **series; /* of every experiment, NULL when there is none yet */
	/* Of every experiment: the points that a run file held when the study began. Each is checked when it is first asked for. */
	struct study_stored {
		uint8_t *is_checked;
		size_t count;
	} * stored;
	/* The places of points and wishes, rebuilt for every pass: open addressing, point 0 = free. */
	struct study_slot {
		uint32_t experiment, point; /* point: 1 + index in the series; wishes: WISH_BIT set */
		bool asked;		    /* in this pass */
	} * slots;
	size_t slot_count, slot_used;
	struct arena kept_arena; /* what passes leave to later ones */
	struct study_kept {
		const char *what;
		const void *key, *value;
		size_t key_bytes;
		uint64_t hash;
		struct study_kept *next;
	} * kept[STUDY_KEPT];	     /* by hash */
	const struct probe **needed; /* the needs, and theirs */
	size_t needed_count;
	bool no_memory;
};

int study_open(struct study *s, struct run *r, const struct probe *p, enum study_mode mode, struct err *e);
/* stored.c: what run files hold is believed only as far as the study's own experiments describe it. 0 or -ENOMEM. */
int stored_open(struct study *s);
/* Before the point of this index is handed out: one that does not hold what its kernel writes becomes INVALID. */
int stored_check(struct study *s, unsigned experiment, size_t index);
/* After a pass: the study becomes one that draws. Of the stored points, study_series shows only those that the pass has
 * asked for, or that have no words. */
int stored_draw(struct study *s);
void stored_close(struct study *s);
/* Runs one pass: wishes and conclusions of the last one are forgotten. 0 or negative. */
int study_pass(struct study *s);
/* Between two passes the run may have got series, of other probes too: those of this study lie elsewhere then. */
void study_series_moved(struct study *s);
/* Puts what the last pass concluded into the run's findings (those of this probe are replaced). Returns their number in
 * *count. 0 or -ENOMEM. */
int study_publish(struct study *s, size_t *count);
void study_close(struct study *s);
/* Whether this pass has asked for the point of this index. A study of all its points goes by those only, as they are
 * the same in a replay. */
bool study_asked(const struct study *s, unsigned experiment, size_t index);

/* Records a verdict for every claim that names one key, and drops what the probe concluded before. 0 or -ENOMEM. */
int study_decline(struct run *r, const struct probe *p, enum verdict v, const char *because);
bool probe_claims(const struct probe *p, const char *key);

/* same_cache.c: applies if cache.<p>.<l>.shared_with names one other level. What is known of the one becomes LIKELY for
 * the other, if that is INCONCLUSIVE or a bound that leaves it open. How many levels there are does so, too. */
void same_cache_estimate(struct finding_list *l);
/* After chase_lent_estimate: size and ways that it told of one path and another path leaves open. */
void same_cache_lent(struct finding_list *l);

/* chase_lent.c: size and ways of a first level of which shared memory took a part. BOUND ones become LIKELY if they are
 * known to a quarter. They are what was seen plus what as many bytes as a launch takes make up, in whole ways if those
 * are known. Comes after the gates, which take them for bounds. A launch takes `taken` bytes; one that gets the least
 * of shared.splits takes `divided`. */
void chase_lent_estimate(struct finding_list *l, uint64_t taken, uint64_t divided);

/* infer.c: what is done to all findings of a run once each probe has concluded. 0 or -ENOMEM. */
int findings_finish(struct run *r);

/* gates.c: applied once to all findings. 0 or -ENOMEM. */
int gates_apply(struct finding_list *l);

#endif
