#!/usr/bin/env python3
"""convert --append: what is in a capture stays, whoever is killed, and whoever else adds to it.

ASSAY_APPEND_ROUNDS: how often a process that appends is killed (30)."""
import fcntl
import os
import random
import signal
import subprocess
import time
import unittest

import common

SIGNATURE = '# AFPerf v1     \n'
ROUNDS = int(os.environ.get('ASSAY_APPEND_ROUNDS', '30'))


def capture(regions, run='0x1', first=0x10):
    lines = [f'RunInfo,0,nanoseconds,1.5,1.0.0,{run},app,1,\n']
    for i in range(regions):
        lines += [f'RegionStart,{10 * i},{run},{hex(first + i)},f{i % 5},\n', f'RegionStop,{10 * i + 5},{hex(first + i)}\n']
    return SIGNATURE + ''.join(lines)


def ids(text, kind, field):
    return [line.split(',')[field] for line in text.splitlines() if line.startswith(kind + ',')]


class Append(common.Case):
    def start(self, name, out):
        return subprocess.Popen([common.ASSAY, 'convert', '--append', self.path(name), self.path(out)],
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                env=common.environment())

    def text(self, name):
        return self.read(name).decode()

    def append(self, name, out):
        return common.run('convert', '--append', self.path(name), self.path(out))

    def test_a_missing_file_is_made(self):
        self.write('in.afperf', capture(2))
        self.assertFine(self.append('in.afperf', 'out.afperf'))
        self.assertEqual(self.text('out.afperf'), capture(2))
        self.assertEqual(self.files(), ['in.afperf', 'out.afperf'])

    def test_what_is_there_stays_and_ids_are_new(self):
        before = '# AFPerf v1     \r\n# a comment\n' + capture(2)[17:].replace('RegionStop,15,0x11\n', '8,7,seconds,1,1.0.0,99,x,1,')
        self.write('in.afperf', capture(2))
        self.write('out.afperf', before)
        for i in (1, 2):
            self.assertFine(self.append('in.afperf', 'out.afperf'))
            after = self.text('out.afperf')
            self.assertTrue(after.startswith(before + '\n'))
            self.assertEqual(len(set(ids(after, 'RunInfo', 5))), 1 + i)
            self.assertEqual(len(set(ids(after, 'RegionStart', 3))), 2 + 2 * i)
        runs = common.run('sql', '--json', self.path('out.afperf'),
                          'select r.source_id as id, count(e.id) as n from run r left join event e on e.run = r.id group by 1')
        self.assertEqual(sorted(row['n'] for row in runs.json), [0, 2, 2, 2])

    def test_files_that_nothing_may_be_added_to_stay(self):
        self.write('in.afperf', capture(1))
        for text, place in (('hello\n', '1:1'), ('# AFPerf v2     \n', '1:1'), (capture(1) + 'RegionStart,1,0x1,0x2,"cut', '5:23'),
                            (capture(1) + 'RegionStart,1,0x1,0x2,a"b,\n', '5:24')):
            self.write('out.afperf', text)
            self.assertFails(self.append('in.afperf', 'out.afperf'), 3, f'out.afperf:{place}:')
            self.assertEqual(self.text('out.afperf'), text)
        self.assertEqual(self.files(), ['in.afperf', 'out.afperf'])

    def test_what_cannot_be_asked_for(self):
        self.write('in.afperf', capture(1))
        self.assertFails(common.run('convert', '--append', self.path('in.afperf'), self.path('out.txt')), 2, '--append')
        self.assertFails(common.run('convert', '--append', '--to', 'afperf', self.path('in.afperf'), '-'), 2, '--append')
        self.assertFails(self.append('in.afperf', 'in.afperf'), 3, 'is an input, too')
        os.mkdir(self.path('folder.afperf'))
        self.assertFails(self.append('in.afperf', 'folder.afperf'), 3, 'is a directory')

    def test_a_program_that_captures_is_waited_for(self):
        self.write('in.afperf', capture(1))
        self.write('out.afperf', capture(1))
        with open(self.path('out.afperf'), 'r+b') as held:
            fcntl.flock(held, fcntl.LOCK_SH)
            self.assertFails(self.append('in.afperf', 'out.afperf'), 3, 'a running program still writes to it')
            self.assertEqual(self.text('out.afperf'), capture(1))
            process = self.start('in.afperf', 'out.afperf')
            time.sleep(0.5)
            self.assertIsNone(process.poll())
            held.seek(0, os.SEEK_END)
            held.write(b'# written while others wait\n')
            held.flush()
        self.assertEqual(process.communicate()[1], b'')
        self.assertIn('# written while others wait\nRunInfo', self.text('out.afperf'))

    def test_several_add_at_once(self):
        n = 8
        for i in range(n):
            self.write(f'{i}.afperf', capture(50, run=hex(i % 3 + 1)))
        for _ in range(3):
            if os.path.exists(self.path('out.afperf')):
                os.remove(self.path('out.afperf'))
            processes = [self.start(f'{i}.afperf', 'out.afperf') for i in range(n)]
            self.assertEqual([p.communicate()[1] for p in processes], [b''] * n)
            text = self.text('out.afperf')
            self.assertEqual(len(text.splitlines()), 1 + n * 101)
            self.assertEqual(len(set(ids(text, 'RunInfo', 5))), n)
            self.assertEqual(len(set(ids(text, 'RegionStart', 3))), n * 50)
        self.assertEqual(self.files(), [f'{i}.afperf' for i in range(n)] + ['out.afperf'])

    def test_killed_at_any_moment_the_file_is_whole(self):
        """Each round starts one or two that append and kills one of them."""
        regions, dice = 20000, random.Random(7)
        base, one = capture(3, run='0xfff', first=0xf000000), 1 + 2 * regions
        self.write('in.afperf', capture(regions))
        self.write('out.afperf', base)
        begun = time.monotonic()
        self.assertFine(self.append('in.afperf', 'out.afperf'))
        usual = time.monotonic() - begun
        before, counts = self.text('out.afperf'), [0, 0, 0]
        for i in range(ROUNDS):
            if i % 10 == 0:
                self.write('out.afperf', base)
                before = base
            victim, other = self.start('in.afperf', 'out.afperf'), None
            if i % 3 == 0:
                other = self.start('in.afperf', 'out.afperf')
            time.sleep(dice.uniform(0, 1.3) * usual)
            victim.send_signal(signal.SIGKILL)
            victim.communicate()
            if other:
                self.assertEqual(other.communicate()[1], b'')
            after = self.text('out.afperf')
            self.assertTrue(after.startswith(before), f'round {i}')
            added = after[len(before):]
            self.assertIn(len(added.splitlines()), (one, 2 * one) if other else (0, one), f'round {i}')
            self.assertTrue(not added or added.endswith('\n'), f'round {i}')
            counts[len(added.splitlines()) // one] += 1
            if i % 5 == 4 or i == ROUNDS - 1:
                self.assertFine(common.run('info', self.path('out.afperf')))
                self.assertEqual(len(set(ids(after, 'RegionStart', 3))), after.count('RegionStart,'))
            before = after
        self.assertFine(self.append('in.afperf', 'out.afperf'))
        self.assertEqual(self.files(), ['in.afperf', 'out.afperf'])
        if ROUNDS > 30:
            print(f'\n{ROUNDS} rounds: nothing added in {counts[0]}, once in {counts[1]}, twice in {counts[2]}; '
                  f'an append takes {usual:.3f} s')


if __name__ == '__main__':
    common.main()
