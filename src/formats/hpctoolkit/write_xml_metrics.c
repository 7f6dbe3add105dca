/* The metrics of experiment.xml: what the summary profile has (partials), what is shown of it (statistics), and what
 * thread profiles have. */
#include "formats/hpctoolkit/write_xml.h"
#include "io/xml_write.h"

/* What is shown, and of which partials it is made. */
typedef struct shown {
    const char *name;
    unsigned needs;
    bool is_percent;
} shown;

enum { HAS_COUNT = 1 << AS_HPC_COUNT, HAS_SUM = 1 << AS_HPC_SUM, HAS_SUMSQ = 1 << AS_HPC_SUMSQ };
static const shown statistics[] = {{"Sum", HAS_SUM, true},
                                   {"Mean", HAS_SUM | HAS_COUNT, false},
                                   {"StdDev", HAS_SUM | HAS_COUNT | HAS_SUMSQ, false},
                                   {"CfVar", HAS_SUM | HAS_COUNT | HAS_SUMSQ, false},
                                   {"Min", 1 << AS_HPC_MIN, false},
                                   {"Max", 1 << AS_HPC_MAX, false}};
enum { N_SHOWN = sizeof statistics / sizeof *statistics };

typedef struct metric_writer {
    const as_hpc_plan *plan;
    as_output *out;
    const char *name, *description;
    unsigned stored;   /* statistics of the group */
    uint32_t sides[2]; /* inclusive, exclusive */
    uint32_t next;     /* ids of partners that are not there */
} metric_writer;

static const char *const side_letters[2] = {"I", "E"}, *const side_types[2] = {"inclusive", "exclusive"};

static uint32_t partial_id(const metric_writer *w, int side, unsigned statistic) {
    return as_hpc_side_at(w->plan, w->sides[side])->summary_id + as_hpc_statistic_index(w->stored, statistic);
}

static unsigned count_shown(const metric_writer *w) {
    unsigned n = 0;
    for (int i = 0; i < N_SHOWN; i++) n += (w->stored & statistics[i].needs) == statistics[i].needs;
    return n;
}

/* Statistics have the last ids of the range whose first are those of partials. */
static uint32_t shown_id(const metric_writer *w, int side, unsigned k) {
    uint32_t range = 1u << w->plan->summary_bits;
    return as_hpc_side_at(w->plan, w->sides[side])->summary_id + range - count_shown(w) + k;
}

/* Whether the sums are shown, as the source says it. */
static int kept_show(const metric_writer *w, int side) {
    const char *show = w->plan->kept.show[as_hpc_side_at(w->plan, w->sides[side])->metric];
    return show && show[0] >= '0' && show[0] <= '4' && !show[1] ? show[0] - '0' : 1;
}

/* The beginning of a <Metric>. part: "PARTIAL:0" or "Sum". */
static void put_metric(const metric_writer *w, int side, const char *part, uint32_t id, uint32_t partner, int show,
                       bool is_percent, bool is_missing) {
    as_output_printf(w->out, "<Metric i=\"%u\" o=\"%u\" n=\"", id, id);
    as_xml_put_value(w->out, w->name, strlen(w->name));
    as_output_printf(w->out, ":%s%s (%s)\"", part, is_missing ? " INTERNAL" : "", side_letters[side]);
    if (!is_missing) as_xml_put_attribute(w->out, "md", w->description);
    as_output_printf(w->out, " v=\"derived-incr\" t=\"%s\" partner=\"%u\" show=\"%d\" show-percent=\"%d\"",
                     side_types[side], partner, show, is_percent);
    const char *format = is_percent ? w->plan->kept.format[as_hpc_side_at(w->plan, w->sides[side])->metric] : NULL;
    if (format) as_xml_put_attribute(w->out, "fmt", format);
    as_output_text(w->out, ">\n");
}

static void end_metric(const metric_writer *w) {
    as_output_text(w->out, "<Info><NV n=\"units\" v=\"events\"/></Info>\n</Metric>\n");
}

/* A side that is not there has an entry all the same, which nobody shows. */
static void put_missing(const metric_writer *w, int side, const char *part, uint32_t id, uint32_t partner) {
    put_metric(w, side, part, id, partner, 4, false, true);
    end_metric(w);
}

static void put_partials(metric_writer *w) {
    static const char *const combine[AS_HPC_STATISTICS] = {"sum", "sum", "sum", "min", "max"};
    for (unsigned k = 0; k < AS_HPC_STATISTICS; k++) {
        if (!(w->stored >> k & 1)) continue;
        unsigned index = as_hpc_statistic_index(w->stored, k);
        char part[16] = "PARTIAL:0";
        part[8] = (char)('0' + index);
        uint32_t ids[2];
        for (int side = 0; side < 2; side++)
            ids[side] = w->sides[side] == ASSAY_NONE ? w->next++ : partial_id(w, side, k);
        for (int side = 0; side < 2; side++) {
            if (w->sides[side] == ASSAY_NONE) {
                put_missing(w, side, part, ids[side], ids[!side]);
                continue;
            }
            put_metric(w, side, part, ids[side], ids[!side], 4, false, false);
            as_output_printf(w->out, "<MetricFormula t=\"combine\" frm=\"%s($%u, $%u)\"/>\n", combine[k], ids[side],
                             ids[side]);
            end_metric(w);
        }
    }
}

static void put_formula(const metric_writer *w, int side, int k) {
    uint32_t count = partial_id(w, side, AS_HPC_COUNT), sum = partial_id(w, side, AS_HPC_SUM),
             squares = partial_id(w, side, AS_HPC_SUMSQ);
    as_output_text(w->out, "<MetricFormula t=\"view\" frm=\"");
    if (k == 0)
        as_output_printf(w->out, "$%u", sum);
    else if (k == 1)
        as_output_printf(w->out, "($%u/$%u)", sum, count);
    else if (k == 2)
        as_output_printf(w->out, "sqrt((($%u/$%u)-(($%u/$%u)^2)))", squares, count, sum, count);
    else if (k == 3)
        as_output_printf(w->out, "(sqrt((($%u/$%u)-(($%u/$%u)^2)))/($%u/$%u))", squares, count, sum, count, sum, count);
    else
        as_output_printf(w->out, "$%u", partial_id(w, side, k == 4 ? AS_HPC_MIN : AS_HPC_MAX));
    as_output_text(w->out, "\"/>\n");
}

static void put_statistics(metric_writer *w) {
    unsigned n = 0;
    for (int k = 0; k < N_SHOWN; k++) {
        const shown *s = &statistics[k];
        if ((w->stored & s->needs) != s->needs) continue;
        uint32_t ids[2];
        for (int side = 0; side < 2; side++)
            ids[side] = w->sides[side] == ASSAY_NONE ? w->next++ : shown_id(w, side, n);
        for (int side = 0; side < 2; side++) {
            if (w->sides[side] == ASSAY_NONE) {
                put_missing(w, side, s->name, ids[side], ids[!side]);
                continue;
            }
            put_metric(w, side, s->name, ids[side], ids[!side], k ? 1 : kept_show(w, side), s->is_percent, false);
            put_formula(w, side, k);
            end_metric(w);
        }
        n++;
    }
}

/* Metrics that are only a formula have no partials. */
static void put_derived(metric_writer *w, assay_id id) {
    const as_dataset *ds = w->plan->ds;
    const as_metric *metric = as_ds_metric(ds, id);
    const char *name = as_ds_text(ds, metric->name), *description = as_ds_text(ds, metric->description);
    const char *format = w->plan->kept.format[id];
    for (int side = 0; side < 2; side++) {
        uint32_t number = w->next + (uint32_t)side;
        as_output_printf(w->out, "<Metric i=\"%u\" o=\"%u\" n=\"", number, number);
        as_xml_put_value(w->out, name ? name : "", name ? strlen(name) : 0);
        as_output_printf(w->out, " (%s)\"", side_letters[side]);
        as_xml_put_attribute(w->out, "md", description ? description : name ? name : "");
        as_output_printf(w->out, " v=\"derived-incr\" t=\"%s\" partner=\"%u\" show=\"1\" show-percent=\"0\"",
                         side_types[side], w->next + !side);
        if (format) as_xml_put_attribute(w->out, "fmt", format);
        as_output_text(w->out, ">\n<MetricFormula t=\"view\" frm=\"");
        as_hpc_put_formula_2021(w->plan, w->out, w->plan->kept.formula[id], side);
        as_output_text(w->out, "\"/>\n");
        end_metric(w);
    }
    w->next += 2;
}

static void put_metric_db(const as_hpc_plan *plan, as_output *out, const char *name, uint32_t side) {
    if (side == ASSAY_NONE) return;
    const as_hpc_side *s = as_hpc_side_at(plan, side);
    as_output_printf(out, "<MetricDB i=\"%u\" n=\"", s->id);
    as_xml_put_value(out, name, strlen(name));
    as_output_text(out, s->kind == AS_KIND_INCLUSIVE   ? " (I)\"/>\n"
                        : s->kind == AS_KIND_EXCLUSIVE ? " (E)\"/>\n"
                                                       : "\"/>\n");
}

bool as_hpc_metric_tables_write(const as_hpc_plan *plan, as_output *out) {
    as_vec name;
    as_vec_init(&name, 1, NULL);
    bool fine = true;
    metric_writer w = {.plan = plan, .out = out};
    for (size_t i = 0; i < plan->sides.count; i++) {
        uint32_t end = as_hpc_side_at(plan, i)->summary_id + (1u << plan->summary_bits);
        if (end > w.next) w.next = end;
    }
    as_output_text(out, "<MetricTable>\n");
    for (size_t i = 0; i < plan->groups.count && fine; i++) {
        const as_hpc_group *group = as_hpc_group_at(plan, i);
        const char *description = as_ds_text(plan->ds, as_ds_metric(plan->ds, group->first)->description);
        if (group->inclusive == ASSAY_NONE && group->exclusive == ASSAY_NONE) continue;
        fine = as_hpc_group_name(plan, group, &name);
        if (!fine) break;
        w.name = name.data;
        w.description = description && description[0] ? description : w.name;
        w.stored = group->statistics;
        w.sides[0] = group->inclusive;
        w.sides[1] = group->exclusive;
        put_partials(&w);
        put_statistics(&w);
    }
    for (assay_id i = 0; i < plan->ds->metrics.count && fine; i++) {
        if (as_hpc_is_written(plan, i)) put_derived(&w, i);
    }
    as_output_text(out, "</MetricTable>\n<MetricDBTable>\n");
    for (size_t i = 0; i < plan->groups.count && fine; i++) {
        const as_hpc_group *group = as_hpc_group_at(plan, i);
        fine = as_hpc_group_name(plan, group, &name);
        if (!fine) break;
        put_metric_db(plan, out, name.data, group->inclusive);
        put_metric_db(plan, out, name.data, group->exclusive);
        put_metric_db(plan, out, name.data, group->other);
    }
    as_output_text(out, "</MetricDBTable>\n");
    as_vec_free(&name);
    return fine;
}
