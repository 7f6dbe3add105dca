"""Holds the tables of `assay sql` against afperf_model.Model."""
import collections
import json
import math
import subprocess

import afperf_model

NODE = ('select r.source_id as run, m.id as metric, m.name as name, m.unit as unit, m.dtype as dtype, g.kind as kind, c.path as path, n.inclusive as inclusive, v.value as value from value v '
        'join node n on n.run = v.run and n.metric = v.metric and n.context = v.context join run r on r.id = v.run join metric m on m.id = v.metric join context c on c.id = v.context join region g on g.id = c.region')
STATEMENTS = {
    'run': 'select * from run order by id', 'attribute': "select * from attribute where owner in ('run', 'event', 'context')", 'metric': 'select * from metric order by id', 'node': NODE,
    'event': 'select e.*, r.source_id as run_id, c.path as path from event e left join run r on r.id = e.run left join context c on c.id = e.context',
    'record': 'select o.*, r.source_id as run_id from record o left join run r on r.id = o.run order by o.id', 'problem': 'select * from problem'}


def ask(assay, path, *options, only=None):
    names = only or list(STATEMENTS)
    out = {}
    p = subprocess.run([assay, 'sql', '--json', '--from', 'afperf', *options, path, ';'.join(STATEMENTS[n] for n in names)], stdin=subprocess.DEVNULL, capture_output=True, timeout=120)
    if p.returncode:
        return p.returncode, p.stderr.decode('utf-8', 'replace').strip()
    text, decoder, at = p.stdout.decode('utf-8', 'surrogateescape'), json.JSONDecoder(), 0
    for n in names:
        while text[at].isspace():
            at += 1
        out[n], at = decoder.raw_decode(text, at)
    return 0, out


def number(x):
    if isinstance(x, str):
        try:
            return int(x)
        except ValueError:
            return {'nan': math.nan, 'inf': math.inf, '-inf': -math.inf}.get(x)
    return math.nan if x is None else x


def near(a, b, scale=0):
    a, b = number(a), number(b)
    if a is None or b is None:
        return False
    if isinstance(a, int) and isinstance(b, int) and abs(a) < 2**63:  # beyond, SQL has no integers
        return a == b
    if math.isnan(a) or math.isnan(b):
        return math.isnan(a) and math.isnan(b)
    return a == b or abs(a - b) <= max(1e-12 * max(abs(a), abs(b)), scale)


def same_value(a, b):
    if isinstance(a, str):
        numbers = afperf_model.real(a.encode('utf-8', 'surrogateescape')), afperf_model.integer(a.encode('utf-8', 'surrogateescape'), -2**63)
        return b == a or any(n is not None and near(n, b) for n in numbers)  # what is not defined may be a number
    return near(a, b)


def hexa(n):
    return None if n is None else hex(n)


class Comparison:
    def __init__(self, model, got, deducts=False):
        self.m, self.g, self.differences = model, got, []
        self.compare_runs()
        self.compare_metrics()
        self.compare_values(got['node'], deducts)
        self.compare_events()
        self.compare_records()

    def say(self, what, expected, found):
        if expected != found:
            self.differences.append((what, expected, found))

    def compare_runs(self):
        want, rows = self.m.run_table(), self.g['run']
        self.say('runs', [hexa(r.key) for r in self.m.order_of_runs], [r['source_id'] for r in rows])
        attributes = collections.defaultdict(list)
        for a in self.g['attribute']:
            if a['owner'] == 'run':
                attributes[a['owner_id']].append((a['key'], a['value']))
        for row, r in zip(rows, self.m.order_of_runs):
            w = want[r.key]
            if not near(w['start_time'], row['start_time']):
                self.say('start_time', w['start_time'], row['start_time'])
            a = {k: str(v) for k, v in attributes[row['id']]}
            for k, v in w.items():
                if k not in ('tags', 'start_time'):
                    self.say(f'run attribute {k}', v, a.get(k))
            self.say('run tags', w['tags'], collections.Counter((k[4:], str(v)) for k, v in attributes[row['id']] if k.startswith('tag:')))

    def compare_metrics(self):
        self.say('built-in metrics', ['visits', 'time', 'time covered'], [m['name'] for m in self.g['metric'][:3]])
        got = [(m['name'], m['unit'], m['dtype']) for m in self.g['metric'][3:]]
        self.say('metrics twice', len(got), len(set(got)))
        self.say('metrics', self.m.metric_table(), set(got))

    def compare_values(self, rows, deduct):
        want, got = self.m.value_table(deduct), {}
        for row in rows:
            metric = row['name'] if row['metric'] < 3 else (row['name'], row['unit'], row['dtype'])
            key = row['run'] and int(row['run'], 16), metric, row['kind'], row['path']
            self.say('value twice', False, key in got)
            got[key] = row['value']
            if metric != 'visits' and not near(row['value'], row['inclusive']):
                self.say(('inclusive', key), row['value'], row['inclusive'])
        beyond = {key[:2] for key, w in want.items() if isinstance(w, int) and abs(w) >= 2**63}  # then all of that metric are floating point
        for key in set(want) | set(got):
            w, g = want.get(key), got.get(key)
            if key[:2] in beyond and key in want:
                w = float(w)
            if key not in want or (key not in got and w != 0):
                if key in want and isinstance(w, float) and math.isnan(w):
                    continue
                self.say(('value', deduct, key), w, g)
            elif key in got and not near(w, g, 1e-12 * self.m.magnitude.get(key, 0)):
                self.say(('value', deduct, key), w, g)

    def compare_events(self):
        tags, unfinished = collections.defaultdict(list), set()
        for a in self.g['attribute']:
            if a['owner'] == 'event':
                if a['key'] == 'unfinished':
                    unfinished.add(a['owner_id'])
                else:
                    tags[a['owner_id']].append((a['key'][4:], str(a['value'])))
        runs = {hexa(r.key): r for r in self.m.order_of_runs}
        got = collections.Counter()
        for e in self.g['event']:
            pause = e['kind'] == 'pause'
            got[e['run_id'] and int(e['run_id'], 16), e['kind'], None if pause else e['name'], None if pause else e['path'], None if pause or e['source_id'] is None else int(e['source_id'], 16), int(e['start_raw']),
                int(e['end_raw']), tuple(sorted(tags[e['id']])), e['id'] in unfinished] += 1
            run = runs.get(e['run_id'])
            if run:
                for k in ('start', 'end'):
                    if not near(self.m.in_time(run, int(e[k + '_raw'])), e[k]):
                        self.say(k, self.m.in_time(run, int(e[k + '_raw'])), e[k])
        want = self.m.event_table()
        self.say('events', want - got, got - want)

    def compare_records(self):
        rows = self.g['record']
        self.say('records', len(self.m.records), len(rows))
        for w, g in zip(self.m.records, rows):
            what = ('record', w['type'], w['owner'], w['id'])
            self.say(what, [w['type'], hexa(w['run']), hexa(w['owner']), *w['times'], w['aggregation'], w['measurement'], hexa(w['id'])],
                     [g['type'], g['run_id'], g['owner'], int(g['start_raw']), int(g['end_raw']), g['aggregation'], g['measurement'], g['measurement_id']])
            if not same_value(w['value'], g['value']):
                self.say(what, w['value'], g['value'])

    def compare_problems(self):
        want = collections.Counter(('afperf-' + rule, line) for rule, line, _ in self.m.problems if rule not in ('overlap', 'utf8'))
        got = collections.Counter((p['rule'], p['line']) for p in self.g['problem'] if p['rule'] not in ('afperf-overlap', 'afperf-utf8', 'afperf-extra', 'afperf-unknown-record'))
        self.say('problems', want - got, got - want)
        self.compare_counted()

    def compare_counted(self):
        """What is said once for each type, with how many there are."""
        def found(rule):
            return sorted((int(p['message'].split()[0]), p['severity'], p['line']) for p in self.g['problem'] if p['rule'] == rule)
        self.say('extra fields', sorted((len(at), 'note', self.m.line(at[0])) for at in self.m.extra.values()), found('afperf-extra'))
        unknown = []
        for at in self.m.unknown.values():
            runs = [run or self.m.order_of_runs[0] if self.m.order_of_runs else None for _, run in at]
            is_later = all(run and run.minor > 0 for run in runs)
            unknown.append((len(at), 'note' if is_later else 'warning', self.m.line(at[0][0])))
        self.say('unknown types', sorted(unknown), found('afperf-unknown-record'))


def without_ids(model, first_run=0):
    """All tables of a capture as a multiset in which runs are numbers, for files whose ids were replaced."""
    number = {}
    for i, r in enumerate(model.order_of_runs):
        number.setdefault(r.key, first_run + i)
    out = collections.Counter()
    for (run, metric, kind, path), v in model.value_table(True).items():
        out['value', number[run], str(metric), kind, path, repr(v)] += 1
    for (run, kind, label, path, _, start, end, tags, unfinished), n in model.event_table().items():
        out['event', number.get(run), kind, label, path, start, end, tags, unfinished] += n
    for r in model.records:
        out['record', number.get(r['run']), r['type'], r['times'], r['aggregation'], r['measurement'], repr(r['value'])] += 1
    return out
