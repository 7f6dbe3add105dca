"""Small AFPerf captures for tests of what is done with events."""

SIGNATURE = '# AFPerf v1     \n'


def run_info(run=1, wallclock=1700000000.25, tags='', units='seconds', start=100):
    return f'RunInfo,{start},{units},{wallclock},1.0.0,{run:#x},mission,2.9,{tags}\n'


def region(number, label, start, end, tags='', run=1, more=''):
    """An interval of a region, times in the run's units since its start timestamp 100; `more`: records behind it."""
    return f'RegionStart,{100 + start},{run:#x},{number:#x},{label},{tags}\nRegionStop,{100 + end},{number:#x}\n{more}'


def section(number, label, intervals, tags='', run=1):
    return f'SectionInfo,,{run:#x},{number:#x},{label},{tags}\n' + ''.join(
        f'SectionStart,{100 + start},{number:#x},{i}\nSectionStop,{100 + end},{number:#x},{i}\n' for i, (start, end) in enumerate(intervals))


# frame 0-10 with move 1-4 (F15), in it radar 2-3 (sensor); move 5-9 (F16, engine), in it radar 5-6 (sensor); the section io 3-8 and 6-12 (F15); a pause 7-8.
FLIGHT = (SIGNATURE + run_info() + region(0x10, 'frame', 0, 10) + region(0x11, 'move', 1, 4, 'platform=F15') + region(0x12, 'radar', 2, 3, 'component=sensor') +
          region(0x13, 'move', 5, 9, 'platform=F16;component=engine') + region(0x14, 'radar', 5, 6, 'component=sensor') +
          section(0x20, 'io', [(3, 8), (6, 12)], 'platform=F15') + 'PauseResume,108,107,0x1\n')
