"""A second reader of AFPerf, made from the document alone and sharing nothing with assay: slow, plain, all in memory. What it says of a capture is held against the tables of `assay sql`."""
import collections
import math
import re

NAMES = ['', 'MeasurementType', 'PauseResume', 'RegionAggregate', 'RegionPoint', 'RegionStart', 'RegionStop', 'RunAggregate', 'RunInfo', 'RunPoint', 'SectionAggregate', 'SectionInfo', 'SectionPoint',
         'SectionStart', 'SectionStop']
# Fields behind the type: t time stamp, i id (may be blank), s text, d decimal, v version, g tags, o time stamp that may be blank, a aggregation type. Then how many of all, the type too, must be there.
LAYOUT = {'MeasurementType': ('tiisssss', 7), 'PauseResume': ('tti', 4), 'RegionAggregate': ('ttia', 5), 'RegionPoint': ('ti', 3), 'RegionStart': ('tiisg', 5), 'RegionStop': ('ti', 3),
          'RunAggregate': ('ttia', 5), 'RunInfo': ('tsdvissg', 8), 'RunPoint': ('ti', 3), 'SectionAggregate': ('ttiia', 6), 'SectionInfo': ('oiisg', 5), 'SectionPoint': ('tii', 4),
          'SectionStart': ('tii', 4), 'SectionStop': ('tii', 4)}
PAIRS = ('RegionAggregate', 'RegionPoint', 'RunAggregate', 'RunPoint', 'SectionAggregate', 'SectionPoint')
SCALE = {'seconds': 1, 'milliseconds': 10**3, 'microseconds': 10**6, 'nanoseconds': 10**9}
UNITS = {'seconds': 's', 'milliseconds': 'ms', 'microseconds': 'us', 'nanoseconds': 'ns', '\u00b5s': 'us', '\u03bcs': 'us'}
WORDS = {'summation': 'sum', 'total': 'sum', 'maximum': 'max', 'minimum': 'min', 'average': 'mean', 'avg': 'mean', 'std deviation': 'stddev', 'std': 'stddev'}
NUMERIC = ('double', 'int32', 'int64', 'bool')
SIGNATURE = b'# AFPerf v1     '


class Fatal(Exception):
    def __init__(self, data, offset):
        super().__init__(f'{place(data, offset)}')
        self.line, self.column = place(data, offset)


def place(data, offset):
    start = data.rfind(b'\n', 0, offset) + 1
    return data.count(b'\n', 0, offset) + 1, offset - start + 1


def text_of(b):
    return b.decode('utf-8', 'surrogateescape')


def split(data):
    """(offset, [(bytes, offset)]) of each record, as RFC 4180 has it; comments, blank records and signatures left out."""
    out, i, n = [], 0, len(data)
    while i < n:
        if data[i:i + 1] == b'#':
            m = re.match(rb'# AFPerf v(\d+)', data[i:i + 64])
            if m and int(m[1]) != 1:
                raise Fatal(data, i)
            end = data.find(b'\n', i)
            i = n if end < 0 else end + 1
            continue
        begin, fields = i, []
        while True:
            at = i
            if data[i:i + 1] == b'"':
                value, i = b'', i + 1
                while True:
                    q = data.find(b'"', i)
                    if q < 0:
                        raise Fatal(data, at)
                    value += data[i:q]
                    i = q + 1
                    if data[i:i + 1] != b'"':
                        break
                    value += b'"'
                    i += 1
                if not (i == n or data[i:i + 1] in b',\n' or data[i:i + 2] == b'\r\n'):
                    raise Fatal(data, i)
                if data[i:i + 2] == b'\r\n':
                    i += 1
            else:
                m = re.compile(rb'[,"\n]').search(data, i)
                i = m.start() if m else n
                if data[i:i + 1] == b'"':
                    raise Fatal(data, i)
                value = data[at:i]
                if data[i:i + 1] == b'\n' and value.endswith(b'\r'):
                    value = value[:-1]
            fields.append((value, at))
            if data[i:i + 1] == b',':
                i += 1
                continue
            i += 1
            break
        if len(fields) > 1 or fields[0][0].strip(b' \t'):
            out.append((begin, fields))
    return out


def integer(b, low=0, high=2**64 - 1):
    m = re.fullmatch(rb'[ \t]*([+-]?)(?:0[xX]([0-9a-fA-F]+)|([0-9]+))[ \t]*', b)
    if not m:
        return None
    v = int(m[2], 16) if m[2] else int(m[3])
    v = -v if m[1] == b'-' else v
    return v if low <= v <= high and not (low == 0 and m[1] == b'-') else None


def real(b):
    s = b.strip(b' \t')
    if re.fullmatch(rb'[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?', s):
        return float(s)
    if re.fullmatch(rb'[+-]?0[xX]([0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)([pP][+-]?\d+)?', s):
        return float.fromhex(s.decode())
    if re.fullmatch(rb'[+-]?(inf|infinity|nan(\(\w*\))?)', s, re.I):
        return math.nan if b'nan' in s.lower() else float(s)
    return None


def tags_of(b):
    out = []
    for part in text_of(b).split(';'):
        if part:
            out.append(tuple(part.split('=', 1)) if '=' in part else (part, ''))
    return out


def total(values):
    return math.fsum(values) if all(math.isfinite(v) for v in values) and any(isinstance(v, float) for v in values) else sum(values)


def union(spans):
    out = []
    for a, b in sorted(spans):
        if out and a <= out[-1][1]:
            out[-1][1] = max(b, out[-1][1])
        else:
            out.append([a, b])
    return out


def length(spans):
    return sum(b - a for a, b in spans)


def overlap(spans, pauses):
    """How much of spans, which do not overlap one another, pauses cover."""
    return sum(max(0, min(b, d) - max(a, c)) for a, b in spans for c, d in pauses)


class Run:
    def __init__(self, key):
        self.key, self.defined, self.latest, self.pauses, self.measures, self.regions, self.last = key, False, 0, [], {}, [], None


class Interval:
    def __init__(self, kind, run, owner, key, start, line, order):
        self.kind, self.run, self.section, self.key, self.start, self.line, self.order = kind, run, owner, key, start, line, order
        self.end, self.data, self.stop_order, self.path, self.tags = None, [], None, None, []

    @property
    def until(self):
        return max(self.start, self.end)


class Section:
    def __init__(self, key):
        self.key, self.defined, self.run, self.label, self.tags, self.intervals, self.latest = key, False, None, None, [], [], 0


class Model:
    def __init__(self, data):
        self.data, self.problems, self.extra, self.unknown = data, [], collections.defaultdict(list), {}
        self.runs, self.sections, self.regions, self.intervals, self.records, self.pauses = [], [], [], [], [], []
        if data[:16] != SIGNATURE:
            raise Fatal(data, 0)
        self.items = [r for r in (self.understand(*r) for r in split(data)) if r]
        self.link()
        self.finish()

    def problem(self, rule, offset):
        self.problems.append((rule,) + place(self.data, offset))

    def line(self, offset):
        return place(self.data, offset)[0]

    # ---- fields

    def understand(self, offset, fields):
        raw = b'\0'.join(f for f, _ in fields)
        try:
            raw.decode('utf-8')
        except UnicodeDecodeError:
            self.problem('utf8', offset)
        name = text_of(fields[0][0])
        number = integer(fields[0][0])
        if number == 0:
            self.problem('record-type', offset)
            return None
        if number is not None:
            name = NAMES[number] if number < len(NAMES) else name
        if name not in LAYOUT:
            return {'type': None, 'name': name, 'offset': offset}
        layout, required = LAYOUT[name]
        fields = list(fields)
        if self.leaves_out(name, fields):
            self.problem('omitted', offset)
            fields.insert({'RunInfo': 4}.get(name, 2), (b'1.0.0' if name == 'RunInfo' else b'', offset))
        if len(fields) < required + (2 if name in PAIRS else 0):
            self.problem('missing', offset)
            return None
        item = {'type': name, 'offset': offset, 'line': place(self.data, offset)[0], 'f': []}
        for i, kind in enumerate(layout, 1):
            value, at = fields[i] if i < len(fields) else (b'', offset)
            blank = not value.strip(b' \t')
            if kind in 'tio':
                v = None if blank else integer(value)
                if v is None and blank and kind == 't':
                    self.problem('missing', offset)
                    return None
                if v is None and not blank:
                    self.problem('number', at)
                    return None
                item['f'].append(v)
            elif kind == 'd':
                v = real(value)
                if v is None:
                    self.problem('missing' if blank else 'number', offset if blank else at)
                    return None
                item['f'].append(v)
            elif kind == 'g':
                item['f'].append(tags_of(value))
            elif kind == 'a':
                item['f'].append(None if blank else text_of(value))
            else:
                item['f'].append(text_of(value))
        rest = fields[len(layout) + 1:]
        if name in PAIRS:
            item['pairs'] = []
            for k in range(0, len(rest) - 1, 2):
                item['pairs'].append((rest[k], rest[k + 1]))
            if len(rest) % 2:
                item['odd'] = rest[-1]
        elif rest:
            self.extra[name].append(offset)
        return item

    def leaves_out(self, name, fields):
        if name == 'RunInfo':
            return len(fields) > 4 and not re.fullmatch(rb'[ \t]*\d+\.\d+\.\d+[ \t]*', fields[4][0]) and len(fields) >= 7
        if name in ('RegionStart', 'SectionInfo'):
            return len(fields) >= 4 and fields[3][0].strip(b' \t') and not re.match(rb'[ \t]*[+-]?[0-9]', fields[3][0])
        return False

    # ---- who belongs to whom

    def run_named(self, key):
        for r in self.runs:
            if r.key == key:
                return r
        r = Run(key)
        self.runs.append(r)
        return r

    def section_named(self, key):
        for s in reversed(self.sections):
            if s.key == key:
                return s
        s = Section(key)
        self.sections.append(s)
        return s

    def find(self, items, key, order):
        """The latest of this id that starts before, else the first one behind."""
        before = [x for x in items if x.key == key and x.order < order]
        behind = [x for x in items if x.key == key and x.order > order]
        return before[-1] if before else behind[0] if behind else None

    def link(self):
        self.define()
        self.start()
        self.stop_and_data()

    def define(self):
        current, nobody = None, Run(None)
        self.order_of_runs = []
        for order, item in enumerate(self.items):
            t, f = item['type'], item.get('f')
            item['order'] = order
            if t == 'RunInfo':
                run = self.run_named(f[4]) if f[4] is not None else Run(None)
                if f[4] is None:
                    self.runs.append(run)
                run.defined, run.start, run.unit, run.wall, run.version = True, f[0], f[1], f[2], f[3].strip(' \t')
                run.application, run.application_version, run.tags, run.offset = f[5], f[6], f[7], item['offset']
                run.minor = int(run.version.split('.')[1])
                self.order_of_runs.append(run)
                self.seen(run, f[0])
                current = item['run'] = run
            else:
                item['current'] = current or nobody
            if t is None:
                self.unknown.setdefault(item['name'], []).append((item['offset'], current))
            elif t in ('RegionStart', 'SectionInfo', 'MeasurementType'):
                item['run'] = self.run_named(f[1]) if f[1] is not None else item['current']
            elif t == 'PauseResume':
                item['run'] = self.run_named(f[2]) if f[2] is not None else item['current']
            if t == 'SectionInfo':
                s = self.section_named(f[2]) if f[2] is not None else Section(None)
                if f[2] is None:
                    self.sections.append(s)
                elif s.defined:
                    self.problem('duplicate', item['offset'])
                s.defined, s.run, s.label, s.tags = True, item['run'], f[3], f[4]
                item['section'] = s
            if t == 'MeasurementType':
                item['run'].measures[f[2]] = {'name': f[3], 'dtype': f[4], 'unit': UNITS.get(f[5], f[5]), 'summary': f[6], 'description': f[7], 'order': order}
            if t in ('MeasurementType', 'SectionInfo', 'PauseResume', 'RegionStart') and f[0] is not None:
                self.seen(item['run'], f[0])
            if t == 'PauseResume':
                self.seen(item['run'], f[1])
                item['run'].pauses.append((f[1], f[0]))
                if f[1] > f[0]:
                    self.problem('backwards', item['offset'])
        for item in self.items:
            if item['type'] in ('RegionStart', 'SectionInfo', 'MeasurementType', 'PauseResume') and not item['run'].defined:
                if item['type'] == 'MeasurementType' and item['run'].measures[item['f'][2]]['order'] != item['order']:
                    continue  # a later one replaces it
                self.problem('orphan', item['offset'])

    def seen(self, run, time):
        run.latest = max(run.latest, time)

    def start(self):
        section = None
        for item in self.items:
            t, f = item['type'], item.get('f')
            if t == 'RegionStart':
                x = Interval('region', item['run'], None, f[2], f[0], item['line'], item['order'])
                x.label, x.tags, x.offset = f[3], f[4], item['offset']
                self.regions.append(x)
                item['interval'] = x
                item['run'].regions.append(x)
            elif t == 'SectionInfo':
                section = item['section']
            elif t == 'SectionStart':
                s = self.section_named(f[1]) if f[1] is not None else section
                if s is None:
                    s = Section(None)
                    self.sections.append(s)
                if not s.defined:
                    self.problem('orphan', item['offset'])
                x = Interval('section', None, s, f[2], f[0], item['line'], item['order'])
                x.offset = item['offset']
                s.intervals.append(x)
                item['interval'] = x

    def stop_and_data(self):
        block, block_run, latest_open, open_regions = None, None, [], []
        for item in self.items:
            t, f, order = item['type'], item.get('f'), item['order']
            if t == 'RunInfo':
                block = item['run']
            elif t == 'RegionStart':
                block = item['interval']
                self.check_new(block, open_regions)
                open_regions.append(block)
            elif t == 'SectionStart':
                block = item['interval']
                self.check_new(block, latest_open)
                latest_open.append(block)
            elif t == 'RegionStop':
                if f[1] is not None:
                    x = self.find(self.regions, f[1], order)
                else:
                    mine = [r for r in open_regions if r.run is block_run and r.end is None]
                    x = mine[-1] if mine else None
                self.close(item, x)
                block = x
            elif t == 'SectionStop':
                if f[1] is None and f[2] is None:
                    mine = [r for r in latest_open if r.end is None]
                    x = mine[-1] if mine else None
                else:
                    s = self.section_named(f[1])
                    if f[2] is None:
                        mine = [r for r in latest_open if r.section is s and r.end is None]
                        x = mine[-1] if mine else None
                    else:
                        x = self.find(s.intervals, f[2], order)
                self.close(item, x)
                block = x
            elif t in PAIRS:
                self.data_record(item, block)
            if block is not None:
                block_run = block if isinstance(block, Run) else block.run if block.kind == 'region' else block.section.run or block_run

    def check_new(self, x, before):
        same = [y for y in before if x.key is not None and y.key == x.key and y.section is x.section]
        if same and same[-1].end is None:
            self.problem('duplicate', x.offset)

    def close(self, item, x):
        if x is None or (x.kind == 'section' and not x.section.defined):
            self.problem('orphan', item['offset'])
            if x is None or x.end is not None:
                return
        if x.end is not None:
            self.problem('orphan', item['offset'])
            return
        x.end, x.stop_order = item['f'][0], item['order']
        if x.end < x.start:
            self.problem('backwards', x.offset)

    def data_record(self, item, block):
        t, f = item['type'], item['f']
        aggregate = t.endswith('Aggregate')
        times = (f[1], f[0]) if aggregate else (f[0], f[0])
        ids = f[2:] if aggregate else f[1:]
        aggregation = f[-1] if aggregate else None
        owner, run = None, None
        if t.startswith('Run') or aggregation is not None:
            if ids[0] is None:
                of = block if isinstance(block, Run) else block and (block.run if block.kind == 'region' else block.section.run)
                owner = run = item['current'] if aggregation is not None else of
            else:
                run = next((r for r in self.runs if r.key == ids[0] and r.defined), None)
                owner = run
                if run is None and t.startswith('Region'):
                    owner = self.find(self.regions, ids[0], item['order'])
                elif run is None and t.startswith('Section'):
                    s = next((s for s in self.sections if s.key == ids[0] and s.defined), None)
                    owner = s and self.find(s.intervals, ids[1], item['order'])
        elif ids[0] is None:
            owner = block if isinstance(block, Interval) and block.kind == t[:len(block.kind)].lower() else None
        elif t.startswith('Region'):
            owner = self.find(self.regions, ids[0], item['order'])
        else:
            owner = self.find(self.section_named(ids[0]).intervals, ids[1], item['order'])
        if isinstance(owner, Interval):
            run = owner.run if owner.kind == 'region' else owner.section.run
        item.update(owner=owner, run=run, times=times, aggregation=aggregation and WORDS.get(aggregation, aggregation))
        if owner is None or not (run and run.defined):
            if owner is None or isinstance(owner, Run):
                self.problem('orphan', item['offset'])
        elif run:
            self.seen(run, max(times))
        if isinstance(owner, Interval) and owner.kind == 'section' and not run:
            self.seen(owner.section, max(times))

    # ---- afterwards

    def finish(self):
        for s in self.sections:
            for x in s.intervals:
                x.run, x.label, x.tags = s.run, s.label, s.tags
        self.intervals = self.regions + [x for s in self.sections for x in s.intervals]
        for x in self.intervals:
            self.seen(x.run or x.section, max(x.start, x.end or 0))
        for x in self.intervals:
            x.unfinished = x.end is None
            if x.unfinished:
                x.end = (x.run or x.section).latest
                self.problem('unfinished', x.offset)
        for run in self.runs:
            if run.defined:
                self.nest(run)
        for item in self.items:
            if item['type'] in PAIRS:
                self.values(item)

    def nest(self, run):
        events = sorted([(x.order, 'start', x) for x in run.regions] + [(x.stop_order, 'stop', x) for x in run.regions if x.stop_order is not None], key=lambda e: e[0])
        stack, fine, last = [], True, 0
        for _, what, x in events:
            time = x.start if what == 'start' else x.end
            fine = fine and time >= last
            last = time
            if what == 'start':
                x.path = (stack[-1].path if stack else ()) + (x.label,)
                stack.append(x)
            else:
                fine = fine and bool(stack) and stack[-1] is x
                if not fine:
                    break
                stack.pop()
        if fine:
            return
        stack = []
        for x in sorted(run.regions, key=lambda r: (r.start, -r.until, r.order)):
            while stack and (stack[-1].until < x.until or (stack[-1].until <= x.start and not stack[-1].unfinished)):
                if stack[-1].until > x.start:
                    self.problems.append(('overlap', None, None))
                stack.pop()
            x.path = (stack[-1].path if stack else ()) + (x.label,)
            stack.append(x)

    def values(self, item):
        run, processed = item['run'], item['aggregation'] is not None
        for (mid, mat), (raw, vat) in item['pairs']:
            m = integer(mid)
            if m is None:
                self.problem('number' if mid.strip(b' \t') else 'missing', mat)
                continue
            measure = run.measures.get(m) if run and run.defined else None
            if measure is None and run and run.defined:
                self.problem('orphan', mat)
            value = self.value(raw, measure['dtype'] if measure else None, processed)
            if value is None:
                self.problem('value', vat)
                continue
            owner = item['owner']
            self.records.append({'run': run.key if run and run.defined else None, 'type': item['type'], 'owner': self.owner_id(item), 'times': item['times'], 'aggregation': item['aggregation'],
                                 'measurement': measure['name'] if measure else None, 'id': m, 'value': value})
            if isinstance(owner, Interval) and measure and measure['dtype'] in NUMERIC and not processed:
                owner.data.append((m, 0 if item['type'].endswith('Aggregate') else 1, item['times'][1], item['order'], value))
        if 'odd' in item:
            self.problem('missing', item['odd'][1])

    def owner_id(self, item):
        given = item['f'][2] if item['type'].endswith('Aggregate') else item['f'][1]
        if given is not None:
            return given
        owner = item['owner']
        return None if owner is None else owner.section.key if isinstance(owner, Interval) and owner.kind == 'section' else owner.key

    def value(self, raw, dtype, processed):
        s = text_of(raw)
        if dtype in ('int32', 'int64'):
            bits = int(dtype[3:]) - 1
            v = integer(raw, -2**bits, 2**bits - 1)
            return v if v is not None or not processed else real(raw)
        if dtype == 'bool':
            return int(s) if s in ('0', '1') else real(raw) if processed else None
        if dtype == 'double':
            return real(raw)
        return s

    def in_time(self, run, raw):
        return (raw - run.start) / SCALE.get(run.unit, 1)

    # ---- tables, in plain form

    def run_table(self):
        out = {}
        for r in self.order_of_runs:
            out[r.key] = {'start_time': r.wall, 'application name': r.application, 'application version': r.application_version, 'afperf format version': r.version, 'timestamp units': r.unit,
                          'start timestamp': str(r.start), 'pauses': str(len(r.pauses)), 'paused': str(length(union((a, b) for a, b in r.pauses if b >= a))), 'tags': collections.Counter(r.tags)}
        return out

    def metric_table(self):
        """(name, unit, dtype) of each that a run has in the end."""
        return {(m['name'], m['unit'], m['dtype']) for r in self.runs for m in r.measures.values()}

    def value_table(self, deduct):
        """(run, metric, kind, path) -> value; metrics of the file are (name, unit, dtype). magnitude: how large what is added up is, in all."""
        cells, self.magnitude = collections.defaultdict(list), {}
        for x in self.intervals:
            if not (x.run and x.run.defined):
                continue
            cells[x.run, x.kind, x.path if x.kind == 'region' else (x.label,)].append(x)
        out, measured = {}, collections.defaultdict(dict)
        for (run, kind, path), all_of in cells.items():
            def put(metric, v):
                out[run.key, metric, kind, '->'.join(path)] = v
            pauses = union((a, b) for a, b in run.pauses if b > a) if deduct else []
            scale = SCALE.get(run.unit, 1)
            spans = [(x.start, x.until) for x in all_of]
            put('visits', len(all_of))
            put('time', (sum(b - a for a, b in spans) - sum(overlap([s], pauses) for s in spans)) / scale)
            if kind == 'section':
                covered = union(spans)
                put('time covered', (length(covered) - overlap(covered, pauses)) / scale)
            sums = collections.defaultdict(list)
            for x in all_of:
                by = collections.defaultdict(list)
                for d in x.data:
                    by[d[0]].append(d[1:])
                for m, ds in by.items():
                    aggregates, points = [d for d in ds if d[0] == 0], sorted((d for d in ds if d[0] == 1), key=lambda d: d[1:3])
                    v = sum(d[3] for d in aggregates) if aggregates else points[-1][3] - points[0][3] if len(points) > 1 else points[0][3]
                    me = run.measures[m]
                    sums[me['name'], me['unit'], me['dtype']].append(v)
            for m, vs in sums.items():
                self.magnitude[run.key, m, kind, '->'.join(path)] = sum(abs(v) for v in vs if math.isfinite(v))
                put(m, total(vs))
                if kind == 'region':
                    measured[run.key, m][path] = total(vs)
        for (run, m), by_path in measured.items():
            self.fill_gaps(out, run, m, by_path)
        return out

    def fill_gaps(self, out, run, metric, by_path):
        """A region around measured ones that was not measured itself has their sum."""
        gaps = {path[:n] for path in by_path for n in range(1, len(path))} - set(by_path)
        below = collections.defaultdict(set)
        for path in set(by_path) | gaps:
            below[path[:-1]].add(path)
        for gap in sorted(gaps, key=len, reverse=True):
            by_path[gap] = total([by_path[child] for child in below[gap]])
            key = lambda path: (run, metric, 'region', '->'.join(path))
            out[key(gap)] = by_path[gap]
            self.magnitude[key(gap)] = sum(self.magnitude[key(child)] for child in below[gap])

    def event_table(self):
        out = collections.Counter()
        for x in self.intervals:
            path = '->'.join(x.path if x.kind == 'region' else (x.label,)) if x.run and x.run.defined else None
            source = x.key if x.kind == 'region' else x.section.key
            out[x.run.key if path is not None else None, x.kind, x.label, path, source, x.start, x.end, tuple(sorted(x.tags)), x.unfinished] += 1
        for r in self.runs:
            for a, b in r.pauses:
                out[r.key if r.defined else None, 'pause', None, None, None, a, b, (), False] += 1
        return out
