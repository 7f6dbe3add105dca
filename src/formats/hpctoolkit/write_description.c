/* FORMATS.md, which a database of the 2021 form has beside its files: what was written, in words. */
#include "formats/hpctoolkit/write_plan.h"

static const char *const description[] = {
    "# The files of this database",
    "",
    "It was written by assay in the form that HPCToolkit's analysers used from January 2021 to April 2022.",
    "",
    "| file | what |",
    "| --- | --- |",
    "| `experiment.xml` | metrics, modules, files, procedures and the tree of calling contexts |",
    "| `profile.db` | values, sorted by profile (a thread, or a stream of a GPU) |",
    "| `cct.db` | the same values, sorted by context |",
    "| `trace.db` | which context each profile was in over time |",
    "| `src/` | copies of source files, where the source of this database had them; the file table names them |",
    "| `FORMATS.md` | this description |",
    "",
    "## What the `.db` files have in common",
    "",
    "All numbers are big-endian: `u16`, `u32` and `u64` without a sign, `f64` in IEEE 754. Offsets count bytes "
    "from the beginning of the file. Sizes are in bytes.",
    "A file begins with 16 characters that name it, two bytes for its version (1 and 0), a `u32` that says how "
    "many items it has, a `u16` that says how many",
    "sections the header lists, and for each of them its size and its offset (`u64` each). Zeros fill the room "
    "up to offset 128, where the first section begins.",
    "The next region begins at the next multiple of 8. Blocks of values follow each other without gaps, at any "
    "offset.",
    "",
    "## profile.db",
    "",
    "Header: `HPCPROF-profdb__`, the number of profiles, 2 sections: profile infos, id tuples. The last 8 bytes "
    "of the file are `tfBDFORP`.",
    "",
    "A profile info takes 52 bytes:",
    "",
    "| at | type | what |",
    "| --- | --- | --- |",
    "| 0 | u64 | offset of its id tuple |",
    "| 8 | 3 u64 | zero |",
    "| 32 | u64 | number of values, V |",
    "| 40 | u32 | number of contexts that have values, C |",
    "| 44 | u64 | offset of its block |",
    "",
    "Profile 0 is the summary over all others; its block is the last in the file. An id tuple is a `u16` length "
    "and so many elements of 18 bytes: a `u16` whose lower 14 bits are the kind and",
    "whose upper 2 bits say how the ids are meant (0 both count, 1 and 2 only the physical one, 3 only the "
    "logical one), a `u64` physical id, a `u64` logical id. The order of elements is that of",
    "the hierarchy. The names of the kinds are in `IdentifierNameTable`; 0 is the summary's, whose tuple has "
    "this one element. Tuples follow each other without gaps, the summary's first.",
    "",
    "A block has V values of 10 bytes (`f64` value, `u16` metric id), and then C + 1 entries of 12 bytes (`u32` "
    "context id, `u64` index of the first value of this context).",
    "Contexts ascend, and so do the metrics of a context here. The last entry is `0x656E6421` (\"end!\") with V. "
    "There are no values that are zero.",
    "",
    "Metric ids of profile 0 are those of the partial results, all others those of `MetricDBTable`.",
    "",
    "## cct.db",
    "",
    "Header: `HPCPROF-cctdb___`, the number N of context infos, 1 section: context infos. The last 8 bytes of "
    "the file are `rtfBDTCC`.",
    "",
    "Context info i, of 22 bytes, is that of context id i: `u32` i, `u64` number of values V, `u16` number of "
    "metrics M, `u64` offset of its block. A context without values has no block at all;",
    "its offset is where the next block begins. Context 0 is the root of the tree, and its inclusive values are "
    "the totals of a profile.",
    "",
    "A block has V values of 12 bytes (`f64` value, `u32` profile), and then M + 1 entries of 10 bytes (`u16` "
    "metric id, `u64` index of the first value of this metric). Metrics ascend, and so do profiles",
    "inside a metric. The last entry is `0x6564` (\"ed\") with V. Values are those of profiles from 1 on: "
    "exactly those of `profile.db`.",
    "",
    "## trace.db",
    "",
    "Header: `HPCPROF-tracedb_`, the number of trace lines, 1 section: their headers. There is one for each "
    "profile from 1 on, in this order, and no footer.",
    "",
    "A header has 22 bytes: `u32` profile, `u16` 0, `u64` offset of the first sample, `u64` offset behind the "
    "last one; both are the same where there are none. Lines begin at multiples of 8.",
    "A sample has 12 bytes: `u64` time stamp, `u32` context id, which is an `it` of `experiment.xml`. Time "
    "stamps ascend. `TraceDB` says how many ticks a second has (`u`), and when the first and the last were.",
    "",
    "## experiment.xml",
    "",
    "`HPCToolkitExperiment` (version 4.0) has a `Header` with the title and a `SecCallPathProfile`, which has a "
    "`SecHeader` with these tables and a `SecCallPathProfileData` with the tree. It is XML 1.0 in UTF-8;",
    "quotes in names are `&quot;`.",
    "",
    "| table | of |",
    "| --- | --- |",
    "| `IdentifierNameTable` | kinds of id tuples: `i` number, `n` name |",
    "| `MetricTable` | what profile 0 has and what is shown of it |",
    "| `MetricDBTable` | metrics of threads: `i` id, `n` name with ` (I)` for inclusive and ` (E)` for exclusive "
    "values |",
    "| `TraceDBTable` | `TraceDB`, where there are samples |",
    "| `LoadModuleTable`, `FileTable` | `i` id, `n` name; 0 is the unknown module, 1 no module; unknown files "
    "are numbered down from 2147483647 |",
    "| `ProcedureTable` | `i` id, `n` name, `v` its offset in the module, `f` 1 for a placeholder |",
    "",
    "A metric `X:PARTIAL:k` is a number of profile 0, and its `combine` formula says how two of them become one; "
    "`X:Sum`, `Mean`, `StdDev`, `CfVar`, `Min` and `Max` are made of them by their `view` formulas, where `$n` "
    "is the number of id n. The",
    "partial results are, as far as they are there and in this order: how many profiles have a value, the sum, "
    "the sum of squares, the least and the greatest value. Their ids are those of the thread's metric, shifted "
    "by BITS bits, plus k.",
    "",
    "The tree: `PF` is a call of a procedure, `C` a call site, `L` a loop, `S` a statement.",
    "",
    "| attribute | what |",
    "| --- | --- |",
    "| `i` | context id. A negative one belongs to the element beside or inside it that has the same number "
    "without the sign: together they are one context |",
    "| `it` | the id that samples use for it |",
    "| `s` | static id: equal ones are the same place in the program |",
    "| `n`, `lm` | of `PF`: procedure and load module |",
    "| `f`, `l` | file and line, 0 where it is not known |",
    "| `v` | offset in the module, or 0 |",
    "",
    "Inclusive values are those of a context and all below it, exclusive ones those of a context and what is "
    "below it without crossing a call. Contexts may have values without being in the tree.",
};

assay_status as_hpc_write_description(const as_hpc_plan *plan, as_output_directory *directory) {
    as_output *out = NULL;
    AS_TRY(as_output_directory_file(directory, "FORMATS.md", &out, plan->error));
    for (size_t i = 0; i < sizeof description / sizeof *description; i++) {
        const char *mark = strstr(description[i], "BITS");
        if (mark) {
            as_output_write(out, description[i], (size_t)(mark - description[i]));
            as_output_printf(out, "%u%s", plan->summary_bits, mark + strlen("BITS"));
        } else {
            as_output_text(out, description[i]);
        }
        as_output_char(out, '\n');
    }
    return as_output_commit(out, plan->error);
}
