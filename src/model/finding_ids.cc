#include "model/finding_ids.h"

#include <algorithm>

namespace pawl {
namespace {

using enum FindingId::Kind;

constexpr FindingId kFindings[] = {
    {"alias", text, "`*name`: aliases are not part of machine files; write the value again"},
    {"anchor", text, "`&name`: anchors are not part of machine files; share by `policies`"},
    {"bad_utf8", text, "the file is not UTF-8"},
    {"directive", text, "`%YAML` and other directives are not part of machine files"},
    {"duplicate_key", text, "a key stands twice in one map; keep one of them"},
    {"empty_file", text, "nothing is in the file"},
    {"file_too_large", text, "the file has more than 1 MiB"},
    {"key_missing", text, "nothing stands before a colon"},
    {"key_not_a_word", text, "a list or a map stands where a key belongs"},
    {"merge_key", text, "`<<`: merge keys are not part of machine files"},
    {"several_documents", text, "`---` begins a second machine; one file is one machine"},
    {"syntax", text, "the text is not YAML"},
    {"tag", text, "`!type`: tags are not part of machine files"},
    {"tilde", text, "`~`: write null"},
    {"too_deep", text, "lists and maps are nested more than 64 deep"},
    {"too_many_values", text, "more than 200,000 keys and values"},
    {"unquoted_template", text, "`{x}` without quotes is a map in YAML; write \"{x}\""},

    {"bad_duration", form, "not a duration: 0, 500ms, 30s, 5m, 2h, 7d, '1 hour', PT1H30M"},
    {"bad_factor", form, "`factor` is a number from 1 to 1000"},
    {"bad_integer", form, "not a whole number, or out of range"},
    {"bad_jitter", form, "`jitter` is none, full, equal or ±1% to ±100%"},
    {"bad_name", form, "names are lower-case letters, digits and _, beginning with a letter"},
    {"bad_type", form, "not a type of a field"},
    {"empty_rows", form, "a list of rows has none; leave the key out"},
    {"later_delay", form, "`later` needs to know when"},
    {"missing_key", form, "a key that is needed is not there"},
    {"named_twice", form, "a name stands twice in one list"},
    {"two_of_one", form, "of these keys there is at most one"},
    {"unknown_key", form, "no such key here"},
    {"unknown_word", form, "the value is not one of the words this key knows"},
    {"wrong_kind", form, "a text where a map belongs, a list where a name belongs, and so on"},

    {"bad_expression", meaning, "an expression cannot be read, or its types do not fit"},
    {"bad_failure_state", meaning, "the failure state is final or has a task"},
    {"bad_scenario", meaning, "a time, zone or answer of a scenario cannot be read"},
    {"bad_schedule", meaning, "a rule, zone or anchor cannot be read, or never happens"},
    {"bad_template", meaning, "a `{placeholder}` is not closed, or a brace stands alone"},
    {"dead_end", meaning, "nothing leads out of a state that is not final"},
    {"done_without_task", meaning, "`done` in a state without a task"},
    {"duplicate_id", meaning, "two states have one id"},
    {"duplicate_timer", meaning, "two timers of a state have one duration"},
    {"effect_key", meaning, "a key that does not belong to this verb"},
    {"english_empty", meaning, "a policy in English says nothing"},
    {"english_ordinal_gap", meaning, "an ordinal is missing or out of order"},
    {"english_planned", meaning, "not exactly one state has `planned`"},
    {"english_said_twice", meaning, "a policy in English says the same thing twice"},
    {"english_times", meaning, "the times of day cannot be said by one rule"},
    {"english_unknown_sentence", meaning, "a line is none of the known sentences"},
    {"factor_too_fine", meaning, "`factor` has more than three decimals"},
    {"final_checkpoint", meaning, "a failure cannot come back to a final state"},
    {"final_left", meaning, "a row leaves a final state without `new_epoch`"},
    {"final_state_works", meaning, "a final state has a task, a timer, `when` or the like"},
    {"give_up_unreachable", meaning, "a give-up row after one that always holds"},
    {"guarded_last_done", meaning, "the last row of `done` has an `if`"},
    {"max_below_first", meaning, "`max` of delays is shorter than `first`"},
    {"migrates_newer", meaning, "`migrate` names this version or a newer one"},
    {"no_action", meaning, "a row of `errors` without an action"},
    {"no_states", meaning, "a machine without states"},
    {"only_without_on", meaning, "`event: only` in a state without `on`"},
    {"planned_without_schedule", meaning, "`planned` in a machine without `schedule`"},
    {"policy_in_policy", meaning, "a shared policy names another"},
    {"reserved_name", meaning, "the name has a meaning of its own"},
    {"schedule_twice", meaning, "the machine and a policy in English both state a schedule"},
    {"set_list", meaning, "`set: [a]` where there is neither an event nor a result"},
    {"started_entered", meaning, "a row leads to a `started` state, which only attempts enter"},
    {"started_has_task", meaning, "the `started` state has a task or is final"},
    {"started_shared", meaning, "two states have one `started` state"},
    {"started_without_task", meaning, "`started` in a state without a task"},
    {"task_without_done", meaning, "a state with a task and no `done`"},
    {"too_many_fields", meaning, "more than 1,000 fields in one place, or words of a field"},
    {"too_many_findings", meaning, "more is wrong than is shown; correct the first ones"},
    {"too_many_labels", meaning, "more than 8 labels"},
    {"too_many_policies", meaning, "more than 1,000 shared policies"},
    {"too_many_rows", meaning,
     "more than 1,000 rows in one list, or 250,000 of all states together"},
    {"too_many_states", meaning, "more than 5,000 states"},
    {"too_many_timers", meaning, "more than 32 timers in one state"},
    {"two_actions", meaning, "a row of `errors` with two actions"},
    {"type_mismatch", meaning, "a value that does not fit its field"},
    {"undeclared_field", meaning, "a field that `data` does not declare"},
    {"unknown_event", meaning, "no row accepts such an event, and none is declared"},
    {"unknown_policy", meaning, "no such policy in `policies`"},
    {"unknown_state", meaning, "no such state"},
    {"unknown_task", meaning, "no such task in `tasks`"},
    {"when_does_not_move", meaning, "a row of `when` without `to`, `event`, `fail` or `hold`"},
    {"zero_every", meaning, "`every` with a duration of zero"},

    {"delay_beyond_after", warning, "a retry waits longer than the stay may last"},
    {"delay_beyond_elapsed", warning, "a retry waits longer than failures are borne"},
    {"endless_circle", warning, "failures alone can go round for ever"},
    {"event_never_accepted", warning, "an event is declared and no state accepts it"},
    {"later_for_ever", warning, "`later` without `after` may ask for ever"},
    {"open_children", warning, "the record ends and its children go on"},
    {"schedule_without_planned", warning, "a schedule, and no state with `planned`"},
    {"timeout_beyond_plan", warning, "an attempt may last until the next planned time"},
    {"unknown_machine", warning, "a machine that none of the given files describes"},
    {"unreachable_row", warning, "a row after one that always holds"},
    {"unreachable_state", warning, "no row leads to the state"},
    {"unused_policy", warning, "nothing names the policy"},
    {"unused_task", warning, "nothing runs the task"},
    {"waits_for_ever", warning, "a state waits for events only, without `after`"},

    {"machine_twice", applying, "two of the files are the same machine"},
    {"no_calls", applying, "a task has `http`, and this process makes no calls"},
    {"stranded_records", applying, "a line of `migrate` leaves live records without a state"},
    {"unknown_channel", applying, "no channel of that name is configured"},
    {"unknown_function", applying, "no function of that name is given by the program"},
    {"version_behind", applying, "the file states a version below the newest one"},
    {"version_taken", applying, "the version that the file states is another machine"},

    {"bad_setting", serving, "a value of the configuration of `pawl serve` cannot be used"},

    {"bad_address", piping, "not HOST:PORT,HOST:PORT of brokers, or not the URL of a search node"},
    {"bad_field_name", piping, "not the name of a field of a message"},
    {"bad_option", piping, "an option of Kafka's client that is not given there"},
    {"bad_secret", piping, "a secret in the clear; write env:NAME or file:PATH"},
    {"bad_size", piping, "not a size, or out of range: 65536, 64KiB, 4MiB"},
    {"bad_text", piping, "a text that is empty, or has control characters"},
    {"bad_topic", piping, "topics are letters, digits, `.`, `_` and `-`, at most 249 of them"},
    {"contradiction", piping, "two settings that do not go together"},
};

}  // namespace

std::span<const FindingId> finding_ids() { return kFindings; }

const FindingId* find_finding(std::string_view id) {
  const auto* found = std::find_if(std::begin(kFindings), std::end(kFindings),
                                   [&](const FindingId& finding) { return finding.id == id; });
  return found == std::end(kFindings) ? nullptr : found;
}

}  // namespace pawl
