"""A small reader of AFPerf that shares nothing with assay: what the tests of the capture library hold its files against.

Raises AssertionError where a file breaks a rule: signature, quoting, a record across a page, an id that is not defined, regions that do not nest."""
import collections
import csv

PAGE = 4096
FIELDS = {'MeasurementType': 9, 'PauseResume': 4, 'RegionStart': 6, 'RegionStop': 3, 'RunInfo': 9, 'RunPoint': 5, 'SectionInfo': 6, 'SectionStart': 4, 'SectionStop': 4}
AT_LEAST = {'RegionAggregate': 7, 'RegionPoint': 5, 'SectionAggregate': 8, 'SectionPoint': 6}
NUMBERS = {'3': 'RegionAggregate', '4': 'RegionPoint', '5': 'RegionStart', '6': 'RegionStop', '10': 'SectionAggregate', '12': 'SectionPoint', '13': 'SectionStart', '14': 'SectionStop'}
Region = collections.namedtuple('Region', 'run label tags begin end path')
Interval = collections.namedtuple('Interval', 'section label tags begin end')


def tags_of(text):
    return dict(t.split('=', 1) for t in text.split(';')) if text else {}


class Capture:
    def __init__(self, path, complete=True):
        """complete: the program ended as it should, so that nothing may be unfinished."""
        with open(path, 'rb') as f:
            self.data = f.read()
        self.records = []
        if self.data or complete:
            self.split()
        self.resolve(complete)

    def split(self):
        data = self.data
        assert data[:17] == b'# AFPerf v1     \n', data[:17]
        assert data.endswith(b'\n'), data[-80:]
        for offset in range(PAGE, len(data) + 1, PAGE):
            assert data[offset - 1:offset] == b'\n', f'a record crosses byte {offset}: {data[offset - 80:offset + 80]}'
        for line in data.decode('utf-8').split('\n'):
            assert '\r' not in line and '\0' not in line
            if line.startswith('#') or not line.strip(' \t'):
                continue
            fields = next(csv.reader([line], strict=True)) if '"' in line else line.split(',')
            kind = fields[0] = NUMBERS.get(fields[0], fields[0])
            assert len(fields) == FIELDS[kind] if kind in FIELDS else len(fields) >= AT_LEAST[kind], line
            self.records.append(fields)

    def of(self, kind):
        return [r for r in self.records if r[0] == kind]

    def resolve(self, complete):
        number = lambda text: int(text, 16)
        self.runs = {}
        for r in self.of('RunInfo'):
            assert r[5] not in self.runs, 'two RunInfo with one id'
            assert r[2] == 'nanoseconds' and r[4] == '1.0.0'
            self.runs[r[5]] = dict(start=number(r[1]), wallclock=float(r[3]), application=r[6], version=r[7], tags=tags_of(r[8]))
        self.types = {(r[2], r[3]): dict(name=r[4], type=r[5], units=r[6], summary=r[7]) for r in self.of('MeasurementType')}
        assert all(run in self.runs for run, _ in self.types)
        self.pauses = [(r[3], number(r[2]), number(r[1])) for r in self.of('PauseResume')]
        self.resolve_regions(number, complete)
        self.resolve_sections(number, complete)
        self.resolve_values(number)

    def resolve_regions(self, number, complete):
        stops, open_regions, self.regions = {}, collections.defaultdict(list), {}
        for r in self.records:
            if r[0] == 'RegionStart':
                assert r[3] not in self.regions, 'two regions with one id'
                stack = open_regions[r[2]]
                assert r[2] in self.runs, f'no run {r[2]}'
                path = (stack[-1].path if stack else ()) + (r[4],)
                assert not stack or stack[-1].begin <= number(r[1])
                self.regions[r[3]] = Region(r[2], r[4], tags_of(r[5]), number(r[1]), None, path)
                stack.append(self.regions[r[3]])
            elif r[0] == 'RegionStop':
                region = self.regions[r[2]]
                assert open_regions[region.run].pop() is region, 'regions do not nest'
                assert r[2] not in stops and region.begin <= number(r[1])
                stops[r[2]] = number(r[1])
        assert not complete or not any(open_regions.values()), 'a region without end'
        self.regions = {k: v._replace(end=stops.get(k)) for k, v in self.regions.items()}

    def resolve_sections(self, number, complete):
        self.sections = {r[3]: r for r in self.of('SectionInfo')}
        assert all(r[2] in self.runs for r in self.sections.values()) and len(self.sections) == len(self.of('SectionInfo'))
        starts = {(r[2], r[3]): number(r[1]) for r in self.of('SectionStart')}
        stops = {(r[2], r[3]): number(r[1]) for r in self.of('SectionStop')}
        assert len(starts) == len(self.of('SectionStart')) and len(stops) == len(self.of('SectionStop')), 'an interval twice'
        assert set(stops) <= set(starts), 'an end without begin'
        assert not complete or all(s in self.sections for s, _ in starts)
        assert all(starts[k] <= t for k, t in stops.items())
        self.intervals = {k: Interval(k[0], self.sections[k[0]][4], tags_of(self.sections[k[0]][5]), t, stops.get(k))
                          for k, t in starts.items() if k[0] in self.sections}

    def resolve_values(self, number):
        """self.values: (record, owner's id, interval or None, time, name of the measure, its text)."""
        self.values = []
        for r in self.records:
            if r[0] not in ('RunPoint', 'RegionPoint', 'RegionAggregate', 'SectionPoint', 'SectionAggregate'):
                continue
            rest = r[3:] if r[0].endswith('Aggregate') else r[2:]
            owner, rest = rest[0], rest[1:]
            interval = None
            if r[0].startswith('Section'):
                interval, rest = rest[0], rest[1:]
            if r[0].endswith('Aggregate'):
                assert rest[0] == '', 'raw aggregates have no aggregation type'
                rest = rest[1:]
            assert rest and len(rest) % 2 == 0, r
            run = owner if r[0] == 'RunPoint' else self.regions[owner].run if r[0].startswith('Region') else self.sections[owner][2]
            for type_id, text in zip(rest[::2], rest[1::2]):
                self.values.append((r[0], owner, interval, number(r[1]), self.types[run, type_id]['name'], text))

    def labels(self):
        return collections.Counter(r.label for r in self.regions.values())

    def paths(self):
        return collections.Counter('/'.join(r.path) for r in self.regions.values())

    def run_of_thread(self, thread):
        return next(k for k, v in self.runs.items() if v['tags']['thread'] == str(thread))

    def point(self, name):
        """The last point of a measure over all runs, added up."""
        return sum({owner: float(text) for kind, owner, _, _, measure, text in self.values if kind == 'RunPoint' and measure == name}.values())
