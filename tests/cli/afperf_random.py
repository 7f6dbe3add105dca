"""Random captures, all kinds of spelling and order, for tests that hold assay against another reader."""
import random

NUMBERS = {'MeasurementType': 1, 'PauseResume': 2, 'RegionAggregate': 3, 'RegionPoint': 4, 'RegionStart': 5, 'RegionStop': 6, 'RunAggregate': 7, 'RunInfo': 8, 'RunPoint': 9, 'SectionAggregate': 10,
           'SectionInfo': 11, 'SectionPoint': 12, 'SectionStart': 13, 'SectionStop': 14}
LABELS = ['a', 'b', 'c', 'solve', 'f', 'two words', 'with, comma', 'say "hi"', 'line\nend', 'cr\r\nlf', 'größe', 'x->y', '7', '0x7', ' lead', '#hash', 'time']
TAGS = ['', '', 'k=v', 'platform=F15;component=sensor', 'n=1;n=2', 'plain', 'e=', 'x=y=z', 'sp= a b ', 'q="1,2"', ';;a=1;', 'ключ=значение']
UNITS = ['nanoseconds', 'microseconds', 'milliseconds', 'seconds']
TYPES = [('double', 's'), ('int32', 'count'), ('int64', 'KiB'), ('bool', 'count'), ('string', 'text'), ('enum', 'text'), ('double', 'µs'), ('int64', 'nanoseconds')]


class Capture:
    """mode: 'ordered' in time, 'shuffled' records, 'blocks' (data has no ids, blocks are shuffled), 'blank' (no ids but of runs and measurements)."""

    def __init__(self, seed, mode=None, faults=True, first_id=None):
        self.r = r = random.Random(seed)
        self.mode = mode or r.choice(['ordered', 'shuffled', 'blocks', 'blank'])
        self.faults, self.next_id = faults and r.random() < .4, first_id or r.choice([1, 0x1000, 2**40])
        self.crlf = r.choice([0, 0, 1, .5])
        runs = [self.run() for _ in range(r.choice([1, 1, 2, 3]))]
        blocks = self.interleave(runs)
        lines = [record for block in blocks for record in block]
        self.data = self.text(lines)

    # ---- spelling

    def new_id(self):
        self.next_id += self.r.choice([1, 1, 1, 17])
        return self.next_id

    def number(self, n, as_id=False):
        k = self.r.random()
        if k < .4:
            return str(n)
        return f'0x{n:x}' if k < .8 else f'0X{n:X}' if k < .9 else f'{n:024d}' if n >= 10**20 else f'{n:022d}'

    def field(self, s):
        b = s.encode('utf-8', 'surrogateescape')
        if any(c in b for c in b',"\n\r') or self.r.random() < .05:
            return b'"' + b.replace(b'"', b'""') + b'"'
        return b

    def line(self, record):
        if isinstance(record, bytes):
            return record
        k = self.r.random()
        name = record[0] if k < .7 or record[0] not in NUMBERS else self.r.choice([str(NUMBERS[record[0]]), hex(NUMBERS[record[0]]), '0' + str(NUMBERS[record[0]])])
        fields = [name] + [self.number(f) if isinstance(f, int) else '' if f is None else f for f in record[1:]]
        return b','.join(map(self.field, fields))

    def text(self, lines):
        r = self.r
        out = [b'# AFPerf v1     ' + r.choice([b'\n', b'\r\n'])]
        for record in lines:
            k = r.random()
            if k < .02:
                out.append(r.choice([b'', b' \t', b'# a comment, with "', b'# AFPerf v1     ', b'#RegionStart,1,2,3,4,']) + b'\n')
            elif k < .025 and self.faults:
                out.append(r.choice([b'Novelty,1,2', b'99,"a\nb"', b'0,1', b'0x0', b'runinfo,1']) + b'\n')
            out.append(self.line(record) + (b'\r\n' if r.random() < self.crlf else b'\n'))
            if self.faults and r.random() < .02:
                out.append(self.fault() + b'\n')
        data = b''.join(out)
        if r.random() < .2 and data.endswith(b'\n') and not data.endswith(b'\r\n'):
            data = data[:-1]
        return data

    def fault(self):
        return self.r.choice([b'RegionStart,-5,0x1,0x11,b,', b'RegionStop,12x,5', b'RegionStop,5,0x10000000000000000', b'RegionStart,5,1', b'PauseResume,1', b'RunPoint,5,0x1', b'RegionStop,,5',
                              b'RegionStop,77,0xdeadbeef01', b'SectionStart,77,0xdeadbeef02,1', b'SectionStop,77,0xdeadbeef02,1', b'RegionPoint,9,0xdeadbeef03,1,2', b'PauseResume,20,10,0xdeadbeef04',
                              b'MeasurementType,1,0xdeadbeef04,3,M,double,s,,', b'RunPoint,1,0xdeadbeef05,3,4', b'MeasurementType,1,0x1', b'RunInfo,1,seconds,x,1.0.0,5,a,b,', b'RunInfo,1,seconds,1.5',
                              b'SectionInfo,x,1,2,3,', b'SectionInfo,,0xdeadbeef04,0xdeadbeef06,lost,k=v'])

    # ---- what a run does

    def run(self):
        r = self.r
        run = {'id': self.new_id(), 'blocks': [], 'measures': []}
        big = r.random() < .1
        run['start'] = r.choice([0, 1, 100, 2**63 - 5000]) if not big else 2**64 - 10**6
        self.time, self.tick = run['start'], r.choice([[1, 2, 5], [0, 1, 3], [0, 0, 0, 1]]) if self.mode == 'ordered' or self.mode == 'blank' else [1, 2, 5]
        info = ['RunInfo', run['start'], r.choice(UNITS), r.choice(['1639527663.5', '0', '1e9', '1700000000.123']), r.choice(['1.0.0', '1.0.0', '1.3.0', '1.0.7']), run['id'], r.choice(['app', 'mission, x', '']),
                r.choice(['2.0', '2.9.0.21.12.13-g123456789ab', '']), r.choice(TAGS)]
        if r.random() < .1:
            del info[4]
        elif r.random() < .1:
            info.append('further')
        elif info[-1] == '' and r.random() < .3:
            info.pop()
        self.current = run
        head = [info]
        for _ in range(r.randrange(0, 5)):
            head.append(self.measure(run))
        for _ in range(r.randrange(0, 3)):
            head.append(self.run_data(run))
        run['blocks'].append(head)
        self.regions(run)
        self.section_intervals(run)
        for _ in range(r.choice([0, 0, 2])):
            r.choice(run['blocks']).append(self.run_data(run))
        for _ in range(r.choice([0, 0, 1, 4])):
            a = run['start'] + r.randrange(0, 60)
            run['blocks'].insert(r.randrange(1, len(run['blocks']) + 1), [['PauseResume', a + r.choice([0, 1, 5, 30]), a, run['id']]])
        if r.random() < .2 and run['measures']:
            m = r.choice(run['measures'])
            t = r.choice(TYPES)
            run['blocks'].insert(r.randrange(1, len(run['blocks']) + 1), [['MeasurementType', run['start'], run['id'], m[0], r.choice(['N', 'again']), t[0], t[1], 'sum', '']])
        return run

    def measure(self, run):
        dtype, unit = self.r.choice(TYPES)
        i = self.new_id()
        run['measures'].append((i, dtype))
        out = ['MeasurementType', run['start'], run['id'], i, self.r.choice(['T', 'N', 'Execution Time', 'time', 'm, x']), dtype, unit, self.r.choice(['', 'sum']), self.r.choice(['', 'desc', 'a, b'])]
        if self.r.random() < .2 and out[-1] == '':
            out.pop()
        return out

    def value(self, dtype):
        r = self.r
        if self.faults and r.random() < .05:
            return r.choice(['', 'x', '1.5x', '5000000000', '9223372036854775808', '2', 'true', '1,5', '-'])
        if dtype == 'double':
            return r.choice(['1.5', '0', '-2.25', '1e3', '0x1p-3', '.5', '2.5 ', 'inf', 'nan', '-INF', '7', '0x10', '1e-300', '123456789.125'])
        if dtype == 'int32':
            return r.choice(['0', '-7', '2147483647', '-2147483648', '0x1f', '+5', '007'])
        if dtype == 'int64':
            return r.choice(['0', '-7', '9223372036854775807', '-9223372036854775808', '0x10', str(2**53 + 1)])
        if dtype == 'bool':
            return r.choice('01')
        return r.choice(['idle', 'busy', 'a, b', '007', '', 'two\nlines', 'größe', '1.0'])

    def pairs(self, run):
        out = []
        for _ in range(self.r.choice([1, 1, 1, 2, 3])):
            i, dtype = self.r.choice(run['measures']) if run['measures'] and self.r.random() < .97 else (0xffff0001, 'string')
            out += [i, self.value(dtype)]
        return out

    def run_data(self, run):
        r, blank = self.r, self.mode in ('blank', 'blocks') and self.r.random() < .5
        i, t = None if blank else run['id'], run['start'] + r.randrange(0, 50)
        if r.random() < .5:
            return ['RunPoint', t, i] + self.pairs(run)[:2]
        kind = r.choice(['RunAggregate', 'RegionAggregate', 'SectionAggregate'])
        return [kind, t, run['start'], i] + ([None] if kind[0] == 'S' else []) + [r.choice(['sum', 'summation', 'mean', 'maximum', 'std deviation', 'p99', 'count'])] + self.pairs(run)

    def step(self):
        self.time += self.r.choice(self.tick)
        return self.time

    def regions(self, run):
        r, blocks = self.r, run['blocks']
        todo, stack, no_data = r.choice([0, 1, 5, 30]), [], r.random() < .3
        while todo or stack:
            if todo and (len(stack) < r.choice([2, 4, 30]) or not stack) and r.random() < .6:
                todo -= 1
                i = None if self.mode == 'blank' else self.new_id()
                t = self.step()
                record = ['RegionStart', t, run['id'], i, r.choice(LABELS[:6] if r.random() < .7 else LABELS), r.choice(TAGS)]
                if record[-1] == '' and r.random() < .3:
                    record.pop()
                elif r.random() < .02:
                    record += ['more'] * (6 - len(record) + 1)
                block = [record]
                if not no_data and r.random() < .4:
                    block += self.data('Region', i, t, run)
                blocks.append(block)
                if self.mode != 'blank' and r.random() < .03:
                    todo = 0 if r.random() < .5 else todo
                    stack.append((None, t))  # never stopped
                else:
                    stack.append((i, t))
            elif stack:
                if stack[-1][0] is None and self.mode != 'blank':
                    if any(s[0] is not None for s in stack) or todo:
                        # nothing outside an unfinished region can be stopped, or they would overlap
                        if todo:
                            todo -= 1
                            continue
                    return
                i, start = stack.pop()
                if self.mode == 'blank' and not todo and r.random() < .05:
                    return
                t = self.step()
                block = [['RegionStop', t, i]]
                if not no_data and r.random() < .5:
                    block += self.data('Region', i, t, run)
                if not no_data and r.random() < .3:
                    block.append(['RegionAggregate', t, start, None if self.mode in ('blank', 'blocks') else i, None] + self.once(run))
                blocks.append(block)

    def once(self, run):
        """Pairs of different measurements."""
        seen, out, pairs = set(), [], self.pairs(run)
        for k in range(0, len(pairs), 2):
            if pairs[k] not in seen:
                seen.add(pairs[k])
                out += pairs[k:k + 2]
        return out

    def data(self, kind, i, t, run, interval=None):
        owner = None if self.mode in ('blank', 'blocks') else i
        more = [None if owner is None else interval] if kind == 'Section' else []
        return [[kind + 'Point', t, owner] + more + self.once(run)]

    def section_intervals(self, run):
        r = self.r
        for _ in range(r.choice([0, 0, 1, 3])):
            i = None if self.mode == 'blank' else self.new_id()
            info = ['SectionInfo', r.choice([None, run['start'], run['start'] + 200]), run['id'], i, r.choice(LABELS), r.choice(TAGS)]
            if self.mode == 'blank' and r.random() < .1 and not info[4].strip()[0].isdigit():
                info[2:4] = [self.new_id()]  # the run id left out, as in the document's example
                i = info[2]
            events = []
            for n in range(r.choice([0, 1, 3, 10])):
                a = run['start'] + r.randrange(0, 80)
                b = a + r.choice([0, 1, 7, 40])
                events.append((a, 0, n, b))
                if r.random() < .95:
                    events.append((b, 1, n, a))
            if self.mode == 'blank':  # the latest open one is stopped: one at a time
                events = sorted(events, key=lambda e: (e[2], e[1]))
                seen = {e[2] for e in events if e[1]}
                events = [e for e in events if e[2] in seen]
            else:
                events.sort(key=lambda e: (e[0], e[1] and e[3] != e[0], e[2], e[1]))
            blocks = [[info]]
            for at, stop, n, other in events:
                interval = None if self.mode == 'blank' else n
                block = [['SectionStop' if stop else 'SectionStart', at, i, interval]]
                if r.random() < .4:
                    block += self.data('Section', i, at, run, n)
                if stop and r.random() < .2:
                    block.append(['SectionAggregate', at, other] + ([None, None] if self.mode in ('blank', 'blocks') else [i, n]) + [None] + self.once(run))
                blocks.append(block)
            run['blocks'] += blocks

    # ---- order

    def interleave(self, runs):
        r = self.r
        lists = [run['blocks'] for run in runs]
        if self.mode == 'blank':
            return [b for blocks in lists for b in blocks]
        if self.mode == 'shuffled':
            out = [[record] for blocks in lists for block in blocks for record in block]
            r.shuffle(out)
            return out
        if self.mode == 'blocks':
            out = [b for blocks in lists for b in blocks]
            r.shuffle(out)
            return out
        out, lists = [], [list(b) for b in lists]
        while lists:
            blocks = r.choice(lists)
            out.append(blocks.pop(0))
            if not blocks:
                lists.remove(blocks)
        return out
