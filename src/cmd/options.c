/* The one table of commands and options. */
#include "cmd/cmd.h"
#include <limits.h>
#include <string.h>

#define END_OPTIONS                                                                                                    \
	{                                                                                                              \
		.name = NULL                                                                                           \
	}
#define END_EXAMPLES                                                                                                   \
	{                                                                                                              \
		.line = NULL                                                                                           \
	}

const struct cmd_option cmd_common_options[] = {
    {.name = "help", .letter = 'h', .help = "say what the command does, with examples"},
    {.name = "version", .letter = 'V', .help = "print the version"},
    END_OPTIONS,
};

static const struct cmd_option list_options[] = {
    {.name = "format",
     .arg = "text|markdown",
     .help = "how to write the list (default text); markdown makes of the list of probes the page doc/probes.md"},
    END_OPTIONS,
};

static const struct cmd_option no_options[] = {END_OPTIONS};

static const struct cmd_option run_options[] = {
    {.name = "device",
     .letter = 'd',
     .arg = "DEVICE",
     .help =
	 "cuda:N, opencl:P.D, sim:NAME, sim:FILE.gpu or replay:FILE.fathom; without it the first NVIDIA GPU that "
	 "can be used, else "
	 "sim:gtx280; cuda:all is every card, and several have commas between: each is measured by a process of its "
	 "own, and the exit code is the worst"},
    {.name = "probes",
     .letter = 'p',
     .arg = "PROBE,...",
     .help = "only these probes and those that they need; `fathom list probes` names them"},
    {.name = "quick",
     .help = "only the plain questions, in seconds: the clock, peaks, bandwidths, sizes and latencies of caches"},
    {.name = "output",
     .letter = 'o',
     .arg = "FILE.fathom",
     .help = "the run file to write; without it a free name made of the device and the date; %h in it is this machine, "
	     "%u the device's UUID, %d the device as -d names it"},
    {.name = "resume", .help = "go on with the run file given by -o: what it has is not measured again"},
    {.name = "seed",
     .arg = "N",
     .help = "seed of all random choices (default 1); the same seed asks the same questions"},
    {.name = "time-limit",
     .arg = "TIME",
     .help = "stop after so many seconds (90, 90s, 1.5m, 2h) and keep what was measured"},
    {.name = "expect",
     .arg = "FILE",
     .help = "lay what was found beside this file: a former run, or lines such as cache.global.l2.latency = 200 +- 5 "
	     "(doc/fleet.md); "
	     "the exit code is 1 when it is contradicted"},
    {.name = "verbose", .letter = 'v', .help = "say in the end where the time went, probe by probe"},
    {.name = "threads",
     .arg = "N",
     .help =
	 "threads of this machine that a simulated GPU may use (default: FATHOM_THREADS, else one a processor, 16 at "
	 "most); the results are the same for any number"},
    END_OPTIONS,
};

static const struct cmd_option report_options[] = {
    {.name = "format",
     .arg = "text|summary|lemeire|json|csv",
     .help = "how to write the report (default text); summary is the screen that `fathom run` ends with: rates, "
	     "memories and latencies in 24 lines; lemeire is the one-page performance report of his Table III; "
	     "markdown makes "
	     "a page for doc/results"},
    {.name = "series", .help = "with --format json: the raw series too, some hundred times as much"},
    {.name = "html",
     .arg = "OUT.html",
     .help = "write one page instead, of all runs given: figures to zoom into, every finding with its reason"},
    {.name = "figures", .arg = "DIR", .help = "also write every figure as DIR/NAME.svg; DIR is made when missing"},
    {.name = "expect",
     .arg = "FILE",
     .help = "lay the findings beside this file, a former run or lines KEY = VALUE; the exit code is 1 when it is "
	     "contradicted"},
    END_OPTIONS,
};

static const struct cmd_option export_options[] = {
    {.name = "to",
     .arg = "accel-sim|ceilings|gpu|hwloc|latencies|openmetrics",
     .help = "the format: options of Accel-Sim; peaks and bandwidths as JSON; a simulated GPU with what was found; the "
	     "tree of SMs and "
	     "caches for lstopo; latencies, rates and "
	     "native instructions of all operations as tab-separated "
	     "values; all numbers as OpenMetrics text",
     .required = true},
    {.name = "like",
     .arg = "GPU",
     .help = "gpu: the built-in GPU that lends what nobody measured (default: the nearest)"},
    END_OPTIONS,
};

static const struct cmd_option compare_options[] = {
    {.name = "format", .arg = "text|json", .help = "how to write the comparison (default text)"},
    END_OPTIONS,
};

static const struct cmd_option fleet_options[] = {
    {.name = "format", .arg = "text|json", .help = "how to write it (default text)"},
    {.name = "html", .arg = "OUT.html", .help = "write a page as well: a map of how far each card is from its like"},
    {.name = "to", .arg = "openmetrics", .help = "write metrics instead, for Prometheus"},
    END_OPTIONS,
};

static const struct cmd_option reproduce_options[] = {
    {.name = "gpu",
     .arg = "NAME|FILE.gpu",
     .help = "measure this simulated GPU instead of the one that the paper names"},
    {.name = "part",
     .arg = "NAME",
     .help = "of a paper about several GPUs, only the values of this one, by the name of its simulated GPU"},
    {.name = "from", .arg = "FILE.fathom", .help = "lay the paper beside this stored run, and measure nothing"},
    {.name = "format", .arg = "text|json", .help = "how to write the comparison (default text)"},
    {.name = "figures",
     .arg = "DIR",
     .help = "also write every figure of the measured probes as DIR/NAME.svg, and those that the paper numbers as "
	     "DIR/fig-NUMBER.svg; DIR is "
	     "made when missing"},
    {.name = "output",
     .letter = 'o',
     .arg = "FILE.fathom",
     .help = "the run file to write; without it a free name made of the device and the date"},
    {.name = "seed",
     .arg = "N",
     .help = "seed of all random choices (default 1); the same seed asks the same questions"},
    {.name = "time-limit",
     .arg = "TIME",
     .help = "stop after so many seconds (90, 90s, 1.5m, 2h) and keep what was measured"},
    {.name = "threads",
     .arg = "N",
     .help =
	 "threads of this machine that a simulated GPU may use (default: FATHOM_THREADS, else one a processor, 16 at "
	 "most); the results are the same for any number"},
    {.name = "verbose", .letter = 'v', .help = "say in the end where the time went, probe by probe"},
    END_OPTIONS,
};

static const struct cmd_option exec_options[] = {
    {.name = "gpu",
     .arg = "NAME|FILE.gpu,...",
     .help = "the simulated GPU: a built-in name or a description of yours; several are the program's devices 0, 1 and "
	     "so on",
     .required = true},
    {.name = "check",
     .help = "say what is wrong in kernels though a GPU lets it pass: accesses outside of allocations, reads of memory "
	     "that was never written, races in "
	     "shared memory; and memory that is never freed"},
    {.name = "stats",
     .arg = "FILE",
     .endings = ".json",
     .help = "count what kernels do, as `fathom sim --stats` does. Tables go to standard error when the program ends; "
	     "FILE.json gets JSON with each launch"},
    {.name = "untimed",
     .help = "compute what kernels compute and no cycles, 10 to 100 times as fast: events tell times of empty kernels, "
	     "and there are no statistics"},
    {.name = "threads",
     .arg = "N",
     .help =
	 "threads of this machine that a simulated GPU may use (default: FATHOM_THREADS, else one a processor, 16 at "
	 "most); the results are the same for any number"},
    END_OPTIONS,
};
static const struct cmd_example exec_examples[] = {
    {"fathom exec --gpu h200 -- ./vectorAdd", "an unmodified CUDA program on a simulated H200"},
    {"fathom exec --gpu h200 --stats run.json ./vectorAdd", "and what each of its launches did"},
    {"fathom exec --gpu h200 --untimed -- ./nbody -benchmark", "what a long program computes, without cycles"},
    END_EXAMPLES,
};

static const struct cmd_option sim_options[] = {
    {.name = "gpu",
     .arg = "NAME|FILE.gpu",
     .help = "the simulated GPU: a built-in name or a description of yours",
     .required = true},
    {.name = "grid", .arg = "G", .help = "blocks: X, X,Y or X,Y,Z"},
    {.name = "block", .arg = "B", .help = "threads of a block: X, X,Y or X,Y,Z"},
    {.name = "launches",
     .arg = "FILE",
     .help = "several launches over one memory, in place of --grid, --block and --arg: lines \"buffer NAME CONTENT\" "
	     "and \"launch KERNEL grid=G block=B [shared=BYTES] ARG...\""},
    {.name = "entry", .arg = "NAME", .help = "which kernel of the file (default: the first that can be run)"},
    {.name = "arg",
     .arg = "ARG",
     .help = "next kernel argument: a number (5, 0x10, 2.5f, 2.5); bytes:HEX, a struct as it lies in memory, zeros "
	     "behind what is written; or a "
	     "buffer: out:WORDS of zeros, whose words are printed, out:WORDS:FILE, whose words go to a file (.npy or "
	     "raw), in:FILE "
	     "with a file's bytes or the data of an .npy file, fill:WORDS:VALUE, "
	     "random:WORDS:SEED of "
	     "any bits, uniform:WORDS:SEED of .f32 from 0 to 1",
     .many = true},
    {.name = "template",
     .arg = "PARAMS",
     .help = "the file is a kernel template, as probes have them (doc/writing-probes.md), with these parameters: "
	     "THREADS=256,CACHED=1"},
    {.name = "shared", .arg = "BYTES", .help = "dynamic shared memory of a block"},
    {.name = "out-type",
     .arg = "TYPE",
     .help = "how the words of out:WORDS are printed: u32 (default), s32, f32 or x32"},
    {.name = "compiled",
     .help =
	 "run the kernel as the modelled device's compiler makes it (compiler.* of its description): its order, and "
	 "operands from shared memory"},
    {.name = "time-limit",
     .arg = "TIME",
     .help = "end a kernel that still runs after so long (90, 90s, 1.5m; default 60; 0: never)"},
    {.name = "limit",
     .arg = "CYCLES",
     .help = "end a kernel that still runs after so many cycles of the simulated GPU; what it has computed is kept"},
    {.name = "limit-instructions", .arg = "N", .help = "the same after so many instructions of warps"},
    {.name = "untimed",
     .help = "compute what the kernel computes and no cycles, 10 to 100 times as fast; not with --stats, --trace, "
	     "--limit or --compiled"},
    {.name = "threads",
     .arg = "N",
     .help =
	 "threads of this machine that a simulated GPU may use (default: FATHOM_THREADS, else one a processor, 16 at "
	 "most); the results are the same for any number"},
    {.name = "stats",
     .arg = "FILE",
     .endings = ".json",
     .help = "count what happens: instructions by class, waits by reason, caches, memory, occupancy, lines; a table, "
	     "or JSON in "
	     "FILE.json"},
    {.name = "check",
     .help =
	 "say what is wrong in the kernel though a GPU lets it pass: reads of memory that was never written (out:WORDS "
	 "counts as such), races in shared memory; then the exit code is 1"},
    {.name = "trace",
     .arg = "FILE",
     .endings = ".json .txt",
     .help =
	 "explain the run: when each warp instruction issued, what it waited for, where its accesses hit; printed, or "
	 "written to FILE.txt, or to FILE.json as Chrome trace events, which Perfetto opens"},
    END_OPTIONS,
};

static const struct cmd_option predict_options[] = {
    {.name = "grid", .arg = "G", .help = "blocks: X, X,Y or X,Y,Z", .required = true},
    {.name = "block", .arg = "B", .help = "threads of a block: X, X,Y or X,Y,Z", .required = true},
    {.name = "from",
     .arg = "FILE.fathom",
     .help = "the run file of the GPU: latencies, rates and sizes come from its findings alone",
     .required = true},
    {.name = "arg",
     .arg = "ARG",
     .help =
	 "next kernel argument, or NAME=ARG: a number (5, 0x10, 2.5), or buf:BYTES, a buffer of zeros (4096, 64K, 16M)",
     .many = true},
    {.name = "template",
     .arg = "PARAMS",
     .help = "the file is a kernel template, as probes have them (doc/writing-probes.md), with these parameters: "
	     "THREADS=256,CACHED=1"},
    {.name = "shared", .arg = "BYTES", .help = "dynamic shared memory of a block (default 0)"},
    {.name = "warm", .help = "the launch before it was the same: what fits the L2 is there, and so is the code"},
    {.name = "compiled",
     .help =
	 "a compiler stands between the text and the GPU, as it does for every real one; the run file of a simulated "
	 "GPU needs this for `--check` in the order of its compiler"},
    {.name = "turns", .arg = "N", .help = "turns of a loop whose end data decide, which the model cannot know"},
    {.name = "check",
     .arg = "DEVICE",
     .help = "also run the kernel on this device, with cold caches, and print how far the prediction is off"},
    {.name = "format", .arg = "text|json", .help = "how to write the prediction (default text)"},
    END_OPTIONS,
};

static const struct cmd_example list_examples[] = {
    {"fathom list", "devices, probes and simulated GPUs"},
    {"fathom list probes --format markdown", "what each probe asks, how, and what could fool it"},
    {"fathom list keys", "every key that a finding can have, its unit and its meaning"},
    END_EXAMPLES,
};

static const struct cmd_example run_examples[] = {
    {"fathom run", "measure the best device with every probe"},
    {"fathom run --quick", "clock, peaks, bandwidths and caches only"},
    {"fathom run -d sim:gtx280 -p clock,constant_cache", "two probes on the simulated GTX 280"},
    {"fathom run -d cuda:0 -o card.fathom", "name the run file"},
    {"fathom run -d cuda:all -o runs/%h-%u.fathom", "every card of this machine, a file each"},
    {"fathom run --resume -o card.fathom", "go on after Ctrl-C, a time limit or a crash"},
    {"fathom run -d replay:card.fathom -o again.fathom", "ask a stored run instead of a GPU"},
    END_EXAMPLES,
};

static const struct cmd_example infer_examples[] = {
    {"fathom infer card.fathom", "infer again with this version, and say what changed"},
    END_EXAMPLES,
};

static const struct cmd_example report_examples[] = {
    {"fathom report card.fathom", "the page for people"},
    {"fathom report card.fathom --format json > card.json", "findings for programs"},
    {"fathom report card.fathom --format summary", "the architecture on one page"},
    {"fathom report card.fathom --format lemeire", "rates, latencies and ridge points on one page"},
    {"fathom report card.fathom --html card.html", "the page for a browser"},
    {"fathom report card.fathom old.fathom --html both.html", "two runs beside each other"},
    {"fathom report card.fathom --expect former.fathom", "what a former run of the card contradicts"},
    {"fathom report card.fathom --figures figures", "the page, and one SVG a figure in figures/"},
    END_EXAMPLES,
};

static const struct cmd_example explain_examples[] = {
    {"fathom explain cache.constant.l1.size", "what the key means, who asks it, how, and what can fool it"},
    {"fathom explain L2", "every key about second levels"},
    {"fathom explain memory bandwidth card.fathom", "what a run says of each key that fits both words"},
    {"fathom explain shared.latency card.fathom", "value, interval, verdict, reason and evidence"},
    END_EXAMPLES,
};

static const struct cmd_example export_examples[] = {
    {"fathom export card.fathom --to ceilings > card.json", "what a roofline needs"},
    {"fathom export card.fathom --to gpu > card.gpu", "for fathom run -d sim:card.gpu"},
    {"fathom export card.fathom --to openmetrics > card.prom", "for Prometheus"},
    {"fathom export card.fathom --to hwloc > card.xml", "for lstopo --input card.xml"},
    END_EXAMPLES,
};

static const struct cmd_example compare_examples[] = {
    {"fathom compare one.fathom two.fathom three.fathom", "what three runs of a card do not agree on"},
    {"fathom compare old.fathom new.fathom --format json > changes.json", "for programs"},
    END_EXAMPLES,
};

static const struct cmd_example fleet_examples[] = {
    {"fathom fleet runs/", "which card differs from its like"},
    {"fathom fleet node*.fathom --format json > fleet.json", "every key with median and spread, for programs"},
    {"fathom fleet runs/ --html fleet.html", "a map of all cards"},
    END_EXAMPLES,
};

static const struct cmd_example reproduce_examples[] = {
    {"fathom reproduce wong2010", "every number of Wong 2010 beside what comes out on the simulated GTX 280"},
    {"fathom reproduce wong2010 --gpu mine.gpu", "how far a description of yours is from the paper"},
    {"fathom reproduce wong2010 --from card.fathom", "the paper beside a stored run, of a real GPU as well"},
    {"fathom reproduce mei2014 --part gtx780 --figures figures", "one of the paper's two GPUs, with figures"},
    {"fathom reproduce wong2010 --format json > wong.json", "for programs"},
    END_EXAMPLES,
};

static const struct cmd_example sim_examples[] = {
    {"fathom sim kernel.ptx --gpu gtx280 --grid 30 --block 256 --arg out:16 --arg 7", "run a kernel of yours"},
    {"fathom sim kernel.ptx --gpu mine.gpu --grid 1 --block 32 --trace",
     "see when each instruction issues, and why then"},
    {"fathom sim kernel.ptx --gpu mine.gpu --grid 4 --block 128 --trace run.json", "the same for ui.perfetto.dev"},
    END_EXAMPLES,
};

static const struct cmd_example predict_examples[] = {
    {"fathom predict saxpy.ptx --grid 4096 --block 256 --from card.fathom --arg 1048576 --arg 2.0 --arg buf:4M --arg "
     "buf:4M",
     "how long it should take on the GPU that card.fathom measured, and what bounds it"},
    {"fathom predict chain.ptx --grid 1 --block 32 --from card.fathom --arg out=buf:128 --check cuda:0",
     "the prediction beside a run of the kernel"},
    {"fathom predict k.ptx --grid 64 --block 256 --from card.fathom --arg buf:1M --turns 12 --format json",
     "for programs; the loop goes on as long as the data say, 12 turns are supposed"},
    END_EXAMPLES,
};

const struct cmd_verb cmd_verbs[] = {
    {.name = "list",
     .operands = "[devices|probes|keys|gpus|papers]",
     .most = 1,
     .summary = "list devices, probes, keys of findings, simulated GPUs, or papers",
     .about =
	 "Says what there is to measure and what can be asked. Without a word it lists devices, probes and simulated "
	 "GPUs. No device is opened for it.",
     .options = list_options,
     .examples = list_examples,
     .run = cmd_list},
    {.name = "run",
     .operands = "",
     .summary = "measure a device and infer what it is",
     .about =
	 "Runs probes on a device, stores every raw sample in one run file, infers findings and prints a summary. Each "
	 "probe is stored when it ends. Ctrl-C finishes the point in hand and keeps what was measured; a second Ctrl-C "
	 "ends "
	 "the program at once. A probe that fails does not end the run.",
     .options = run_options,
     .examples = run_examples,
     .run = cmd_run},
    {.name = "infer",
     .operands = "FILE.fathom",
     .least = 1,
     .most = 1,
     .summary = "infer again from the stored series, without a device",
     .about = "Replaces the findings in a run file by what this version concludes from the stored series, and prints "
	      "what changed. The series stay as they are.",
     .options = no_options,
     .examples = infer_examples,
     .run = cmd_infer},
    {.name = "report",
     .operands = "FILE.fathom [FILE.fathom ...]",
     .least = 1,
     .most = 8,
     .summary = "write a stored run as a page of HTML, text, JSON or CSV, and its figures as SVG",
     .about = "Writes the report to standard output, or with --html one page that needs nothing else; several runs "
	      "stand beside "
	      "each other in it. Nothing is measured and the run file is not changed. JSON is a "
	      "contract (schema 1, report.schema.json): findings sorted by key, with --series the raw series.",
     .options = report_options,
     .examples = report_examples,
     .run = cmd_report},
    {.name = "explain",
     .operands = "KEY|GLOB|WORDS [FILE.fathom]",
     .least = 1,
     .most = 8,
     .summary = "say what a key means, how it is measured, and why a run says what it says",
     .about =
	 "Explains the keys that fit: a key, a glob such as 'cache.*.size', or words that all stand in a key or in its "
	 "meaning. Without a file: meaning, unit, the probe, how it works and what can fool it. With one: also value, "
	 "interval, verdict, reason, the figure of the evidence, and the command that measures only this. More than "
	 "three "
	 "keys are listed in a line each.",
     .options = no_options,
     .examples = explain_examples,
     .run = cmd_explain},
    {.name = "export",
     .operands = "FILE.fathom",
     .least = 1,
     .most = 1,
     .summary = "write a stored run in the format of another program",
     .about = "Writes to standard output what other programs read. Only what is MEASURED or LIKELY is written, with "
	      "its interval, and "
	      "each value says which of the two it is (doc/report-json.md).",
     .options = export_options,
     .examples = export_examples,
     .run = cmd_export},
    {.name = "compare",
     .operands = "FILE.fathom FILE.fathom ...",
     .least = 2,
     .most = 16,
     .summary = "lay stored runs beside each other, and say where they differ",
     .about =
	 "Prints every finding on which the runs do not agree. Sizes, counts and names have to be equal, latencies "
	 "within "
	 "1 cycle, rates within 1 %. Two runs contradict each other when their intervals are apart, when they name "
	 "different things, or when one has what the other found ABSENT; they differ when each interval has room for "
	 "both values. What only some of the runs could decide is listed as well. The exit code is 1 when any two runs "
	 "differ. Two cards of one model do differ in places.",
     .options = compare_options,
     .examples = compare_examples,
     .run = cmd_compare},
    {.name = "fleet",
     .operands = "FILE.fathom|DIR ...",
     .least = 1,
     .most = INT_MAX,
     .summary = "say which card of many differs from its like",
     .about = "Groups runs by the model of their GPU and lays each finding beside those of its like. A number lies "
	      "apart when it is "
	      "more than 5 spreads (median absolute deviations) and more than 2 % from the median, and its interval "
	      "excludes the "
	      "median; counts and names do when most others agree on another one. A key needs three cards that decide "
	      "it. DIR "
	      "stands for the run files in it. The exit code is 1 when a card lies apart.",
     .options = fleet_options,
     .examples = fleet_examples,
     .run = cmd_fleet},
    {.name = "reproduce",
     .operands = "PAPER",
     .least = 1,
     .most = 1,
     .summary = "lay a paper's published values beside what is measured",
     .about =
	 "Runs the probes that the paper's values need on the simulated GPU that the paper names. Prints every "
	 "published value beside the one that came out. PAPER is a name of `fathom list papers` or a file that ends in "
	 ".paper. A value that does not come out is explained when its row names an entry of gpus/DEVIATIONS.md. Else "
	 "it differs, and the exit code is 1. What was measured is kept in a run file, also after Ctrl-C. GPUs of one "
	 "paper are "
	 "measured side by side, as many as there are threads.",
     .options = reproduce_options,
     .examples = reproduce_examples,
     .run = cmd_reproduce},
    {.name = "sim",
     .operands = "KERNEL.ptx",
     .least = 1,
     .most = 1,
     .summary = "run a PTX kernel of yours on a simulated GPU",
     .about = "Runs the kernel once and prints its cycles and its output words. The first .entry of the file is run, "
	      "or what "
	      "--launches says. Ctrl-C ends the kernel, and what it has computed is printed.",
     .options = sim_options,
     .examples = sim_examples,
     .run = cmd_sim},
    {.name = "exec",
     .operands = "PROGRAM [ARG ...]",
     .least = 1,
     .most = INT_MAX,
     .words = true,
     .summary = "run a CUDA program on a simulated GPU",
     .about =
	 "Runs the program as it is: in place of NVIDIA's driver and runtime it finds ours, which execute its PTX on "
	 "the simulated GPU. "
	 "Events read simulated time. The exit code is the program's; 3 when it calls what is not served, which "
	 "one sentence names. Ctrl-C ends the program, and --stats and --check tell of what ran until then. A program "
	 "without PTX for the GPU has to be compiled with -gencode arch=compute_NN,code=compute_NN. What is served "
	 "stands in doc/simulator.md.",
     .options = exec_options,
     .examples = exec_examples,
     .run = cmd_exec},
    {.name = "predict",
     .operands = "KERNEL.ptx",
     .least = 1,
     .most = 1,
     .summary = "say how long a kernel should take, from a run file's findings alone",
     .about =
	 "Follows the warps of one SM through the kernel, which is the first .entry of the file. Their instructions "
	 "go through two pipelines, one of computations and one of memory, with the issue and completion latencies "
	 "that were measured. Prints the expected time, between which times it should lie, and what bounds it: "
	 "issue, latency, bandwidth or the launch. Also says which findings were used, which are missing and with "
	 "what effect, and what data decide. Nothing is measured "
	 "without --check. "
	 "A file without .version gets that of the GPU of the run file.",
     .options = predict_options,
     .examples = predict_examples,
     .run = cmd_predict},
};

const size_t cmd_verb_count = sizeof(cmd_verbs) / sizeof(cmd_verbs[0]);

const struct cmd_verb *cmd_find(const char *name)
{
	for (size_t i = 0; i < cmd_verb_count; i++)
		if (strcmp(cmd_verbs[i].name, name) == 0)
			return &cmd_verbs[i];
	return NULL;
}

const char *cmd_nearest_verb(const char *name)
{
	const char *names[sizeof(cmd_verbs) / sizeof(cmd_verbs[0])];

	for (size_t i = 0; i < cmd_verb_count; i++)
		names[i] = cmd_verbs[i].name;
	return str_nearest(name, names, cmd_verb_count);
}
