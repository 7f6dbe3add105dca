/* Writing profiles: which way, and what there is to say about it. */
#include "formats/perun/write.h"

const as_option as_perun_write_options[] = {
    {"layout", AS_OPTION_CHOICE, "same", "same|old|new",
     "Write resources one by one in snapshots or global (old), as columns of their types (new), or as they were read; "
     "what was no profile becomes a new one"},
    {"run", AS_OPTION_INT, "", NULL, "which profile of a store, by its id in the table run; a file holds one"},
    {.name = NULL},
};

const as_perun_profile *as_perun_whole_profile(const as_dataset *ds) {
    const as_perun *perun = as_perun_of(ds);
    if (!perun || perun->profiles.count != 1) return NULL;
    const as_perun_profile *profile = &AS_AT(as_perun_profile, &perun->profiles, 0);
    return profile->regions.count ? profile : NULL;
}

/* Whether the new layout is asked for; `had`: it is what the profile has. */
static bool wants_new(const as_options *options, bool had) {
    const char *layout = as_option_text(options, "layout");
    return strcmp(layout, "same") == 0 ? had : strcmp(layout, "new") == 0;
}

assay_status as_perun_write_alone(as_writer *writer, const as_perun_edits *edits) {
    as_options options = {as_perun_write_options, writer->options.table ? writer->options.given : NULL};
    const as_perun_profile *profile = as_perun_whole_profile(writer->dataset);
    bool is_new = wants_new(&options, profile ? profile->is_new : true);
    if (profile && is_new == profile->is_new) return as_perun_write_edited(writer, profile, edits);
    if (!profile) return as_perun_write_foreign(writer, edits, is_new);
    if (edits)
        return as_fail(writer->error, ASSAY_E_UNSUPPORTED, AS_NOWHERE, "layout",
                       "a profile to which something is added keeps its layout; convert it before or afterwards");
    return as_perun_write_layout(writer, profile, is_new);
}

assay_status as_perun_write(as_writer *writer, const as_perun_edits *edits) {
    as_options options = {as_perun_write_options, writer->options.table ? writer->options.given : NULL};
    const char *run = as_option_text(&options, "run");
    if (!edits && as_perun_is_store(writer->dataset)) return as_perun_write_stored(writer, run);
    if (run[0])
        return as_fail(writer->error, ASSAY_E_USAGE, AS_NOWHERE, "run",
                       "the option run chooses among the profiles of a store, and this is none");
    return as_perun_write_alone(writer, edits);
}

void as_perun_losses(const as_dataset *ds, as_losses *losses) {
    if (as_perun_is_store(ds))
        as_perun_stored_losses(ds, losses);
    else if (!as_perun_whole_profile(ds))
        as_perun_foreign_losses(ds, losses);
}

void as_perun_remarks(const as_dataset *ds, const as_options *options, as_losses *remarks) {
    const as_perun_profile *profile = as_perun_whole_profile(ds);
    if (as_perun_is_store(ds)) return;
    if (!profile)
        as_perun_foreign_remarks(ds, remarks);
    else if (!profile->is_new && wants_new(options, false) && as_perun_reorders(ds, profile))
        as_lose(remarks, "in the new layout resources stand type by type, no longer in the order of the file");
}
