-- A run of fathom: one file a run. Raw words are kept, so that everything else can be computed again.
CREATE TABLE run(
	id INTEGER PRIMARY KEY CHECK (id = 1),
	fathom TEXT NOT NULL,   -- version that measured
	started TEXT NOT NULL,  -- ISO 8601, UTC
	seed INTEGER NOT NULL,  -- 64 bits, as a signed number
	seconds REAL            -- time spent measuring
);
CREATE TABLE concluded(     -- version that concluded the findings; without a row, the one that measured; since schema 4
	id INTEGER PRIMARY KEY CHECK (id = 1), fathom TEXT NOT NULL
);
CREATE TABLE device(
	id INTEGER PRIMARY KEY CHECK (id = 1),
	backend TEXT NOT NULL, spec TEXT NOT NULL, name TEXT NOT NULL, uuid TEXT NOT NULL, driver TEXT NOT NULL,
	dialect TEXT NOT NULL, target TEXT NOT NULL, ptx_version INTEGER NOT NULL, cc INTEGER NOT NULL,
	sm_count INTEGER NOT NULL, warp_size INTEGER NOT NULL, max_threads_per_block INTEGER NOT NULL,
	max_threads_per_sm INTEGER NOT NULL, registers_per_block INTEGER NOT NULL, shared_per_block INTEGER NOT NULL,
	constant_bytes INTEGER NOT NULL, memory_bytes INTEGER NOT NULL, clock_hz REAL,
	has_f64 INTEGER NOT NULL, has_f16 INTEGER NOT NULL, has_fma INTEGER NOT NULL
);
CREATE TABLE probe(
	name TEXT PRIMARY KEY, state TEXT NOT NULL, seconds REAL, message TEXT NOT NULL
);
CREATE TABLE series(
	id INTEGER PRIMARY KEY,
	probe TEXT NOT NULL, experiment TEXT NOT NULL,
	axis TEXT, unit TEXT,   -- of point.x
	param0 TEXT, param1 TEXT, param2 TEXT, param3 TEXT, param4 TEXT, param5 TEXT, param6 TEXT, param7 TEXT, -- of point.p*
	seed INTEGER NOT NULL,
	before_sm_clock_mhz REAL, before_memory_clock_mhz REAL, before_temperature_c REAL, before_power_w REAL,
	before_throttle INTEGER NOT NULL,
	after_sm_clock_mhz REAL, after_memory_clock_mhz REAL, after_temperature_c REAL, after_power_w REAL,
	after_throttle INTEGER NOT NULL,
	UNIQUE (probe, experiment)
);
-- What the hardware executed: one row a distinct kernel of a series.
CREATE TABLE native(
	series INTEGER NOT NULL REFERENCES series(id), number INTEGER NOT NULL, -- 0, 1, 2 ... in a series
	fingerprint INTEGER NOT NULL, instructions INTEGER NOT NULL, registers INTEGER NOT NULL,
	clock_reads INTEGER NOT NULL, source TEXT NOT NULL, problem TEXT NOT NULL,
	PRIMARY KEY (series, number)
) WITHOUT ROWID;
CREATE TABLE native_region( -- between one clock read and the next
	series INTEGER NOT NULL, native INTEGER NOT NULL, number INTEGER NOT NULL,
	total INTEGER NOT NULL, top_count INTEGER NOT NULL, mix TEXT NOT NULL,
	counts TEXT NOT NULL,   -- "alu=128 clock=1": instructions of each class that occurs
	PRIMARY KEY (series, native, number)
) WITHOUT ROWID;
CREATE TABLE native_layout( -- where code lies, in bytes; since schema 2
	series INTEGER NOT NULL, native INTEGER NOT NULL,
	code_bytes INTEGER NOT NULL, first INTEGER NOT NULL, step INTEGER NOT NULL, reads INTEGER NOT NULL,
	PRIMARY KEY (series, native)
) WITHOUT ROWID;
CREATE TABLE point(
	series INTEGER NOT NULL REFERENCES series(id), number INTEGER NOT NULL, -- in the order of measuring
	x REAL, p0 REAL, p1 REAL, p2 REAL, p3 REAL, p4 REAL, p5 REAL, p6 REAL, p7 REAL,
	outcome TEXT NOT NULL, repeats INTEGER NOT NULL, words_per_repeat INTEGER NOT NULL,
	elapsed_ms REAL, native INTEGER, message TEXT NOT NULL,
	words BLOB,             -- NULL when the outcome is not OK. See store_words.c for the encoding
	PRIMARY KEY (series, number)
) WITHOUT ROWID;
CREATE TABLE finding(
	key TEXT PRIMARY KEY,
	verdict TEXT NOT NULL, kind TEXT NOT NULL, -- kind of value: none, number, text, array
	number REAL, text TEXT NOT NULL, array TEXT NOT NULL,
	lo REAL, hi REAL,       -- NULL: makes no sense for this value
	unit TEXT NOT NULL, method TEXT NOT NULL, because TEXT NOT NULL, scope TEXT NOT NULL, probe TEXT NOT NULL,
	evidence TEXT NOT NULL  -- one a line
);
CREATE TABLE rival( -- what came second, of findings of a level that one posterior concluded; since schema 5
	key TEXT PRIMARY KEY, shape TEXT NOT NULL, value REAL NOT NULL, nats REAL NOT NULL, -- by which it is less probable
	experiment TEXT NOT NULL, point INTEGER NOT NULL, -- the ring that parted it most from the best: a point of the probe's series
	addresses INTEGER NOT NULL, bytes REAL NOT NULL, step REAL NOT NULL,
	floor REAL NOT NULL, visits REAL NOT NULL, misses REAL NOT NULL, -- accesses that were timed, and those that took `floor` ticks
	best_least REAL NOT NULL, least REAL NOT NULL -- misses that the best and the second have at least
);
-- For other programs: one row a finding, its value whatever its kind, and whose it is; since schema 3. Columns are only added.
CREATE VIEW findings AS
	SELECT finding.key, finding.verdict,
		CASE finding.kind WHEN 'number' THEN finding.number WHEN 'text' THEN finding.text WHEN 'array' THEN finding.array END AS value,
		finding.lo, finding.hi, finding.unit, finding.method, finding.because, finding.scope, finding.probe,
		device.name AS gpu, device.uuid, device.driver, run.started, run.fathom
	FROM finding, device, run;
