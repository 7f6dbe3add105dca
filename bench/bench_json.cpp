/* How fast the JSON reader is, on records of numbers as Extra-P's JSON Lines have them, against simdjson On-Demand on
 * the same bytes.
 * usage: bench_json [MEGABYTES]   (20 unless told) */
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#ifdef HAVE_SIMDJSON
#include <simdjson.h>
#endif

extern "C" {
#include "io/json.h"
}

static const int ROUNDS = 7;

/* Lines like {"params": {"p": 4.0}, "callpath": "main->phase0->kernel0", "metric": "time", "value": [67.89227357735717,
 * …]}. */
static std::string make_lines(size_t megabytes) {
    std::string lines;
    uint64_t seed = 1;
    char number[AS_NUMBER_SIZE], head[160];
    for (int i = 0; lines.size() < megabytes * 1000000; i++) {
        std::snprintf(
            head, sizeof head,
            "{\"params\": {\"p\": %d.0}, \"callpath\": \"main->phase%d->kernel%d\", \"metric\": \"time\", \"value\": [",
            4 << i % 8, i / 8 % 100, i / 8);
        lines += head;
        for (int k = 0; k < 5; k++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            as_real_format(60 + static_cast<double>(seed >> 11) * 0x1p-50, number);
            lines += k ? ", " : "";
            lines += number;
        }
        lines += "]}\n";
    }
    return lines;
}

/* Walks all tokens of all lines; with values: makes doubles of the numbers. Returns their sum, or NAN on bad JSON. */
static double read_lines(const std::string &lines, bool values) {
    as_json json;
    double sum = 0;
    uint32_t line = 1;
    as_json_init(&json, "bench", "", 0, as_json_options{}, nullptr);
    for (const char *p = lines.data(), *end = p + lines.size(); p < end; line++) {
        const char *newline = static_cast<const char *>(std::memchr(p, '\n', static_cast<size_t>(end - p)));
        as_json_restart(&json, p, static_cast<size_t>(newline - p), line);
        while (as_json_next(&json) > AS_JSON_END) {
            if (values && json.type == AS_JSON_NUMBER) sum += as_number_real(as_json_number(&json));
        }
        if (json.type == AS_JSON_ERROR) sum = NAN;
        p = newline + 1;
    }
    as_json_free(&json);
    return sum;
}

#ifdef HAVE_SIMDJSON
/* The same with simdjson: every key and string touched, numbers as doubles. */
static double read_with_simdjson(const simdjson::padded_string &lines) {
    using namespace simdjson;
    ondemand::parser parser;
    ondemand::document_stream stream;
    double sum = 0;
    size_t characters = 0;
    if (parser.iterate_many(lines).get(stream)) return NAN;
    for (auto document : stream) {
        for (auto parameter : document["params"].get_object()) {
            characters += parameter.unescaped_key().value().size();
            sum += parameter.value().get_double().value();
        }
        characters += document["callpath"].get_string().value().size();
        characters += document["metric"].get_string().value().size();
        for (auto value : document["value"].get_array()) sum += value.get_double().value();
    }
    return characters ? sum : NAN;
}
#endif

/* Megabytes a second in the best of several rounds. */
template <typename Work> static double speed(size_t size, Work work, double &result) {
    double best = INFINITY;
    for (int i = 0; i < ROUNDS; i++) {
        auto begin = std::chrono::steady_clock::now();
        result = work();
        best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    }
    return static_cast<double>(size) / best / 1e6;
}

int main(int argc, char **argv) {
    std::string lines = make_lines(argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 20);
    double sum = 0, tokens_only = 0;
    double tokens = speed(
        lines.size(), [&] { return read_lines(lines, false); }, tokens_only);
    double values = speed(
        lines.size(), [&] { return read_lines(lines, true); }, sum);
    std::printf("assay, tokens:              %6.0f MB/s\n", tokens);
    std::printf("assay, tokens and doubles:  %6.0f MB/s\n", values);
#ifdef HAVE_SIMDJSON
    double their_sum = 0;
    simdjson::padded_string padded(lines);
    double theirs = speed(
        lines.size(), [&] { return read_with_simdjson(padded); }, their_sum);
    std::printf("simdjson On-Demand, the same: %4.0f MB/s, %.2f times ours\n", theirs, theirs / values);
    if (!(std::fabs(sum - their_sum) <= 1e-9 * std::fabs(sum))) {
        std::printf("the sums differ: %.17g and %.17g\n", sum, their_sum);
        return 1;
    }
#endif
    return std::isnan(sum + tokens_only);
}
