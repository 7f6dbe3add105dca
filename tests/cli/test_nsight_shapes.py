"""The same export in databases of any shape: sizes of pages, encodings, journals, free pages, gaps between rows, tables without rowids. Values and events stay the same."""
import os
import shutil
import sqlite3

import nsight_make as make
import nsight_model
import nsight_random
from common import Case, main, run
from test_nsight_random import differences

WIDE = [make.KERNEL, make.RUNTIME, 'NVTX_EVENTS', 'StringIds']


class Shapes(Case):
    seeds = range(1000, 1012)

    def check(self, name, change, page_size=4096):
        """change: what is done to the database at this path, or gives the path of another."""
        for seed in self.seeds:
            path = self.path(f'{name}-{seed}.sqlite')
            nsight_random.Random(seed, nsight_random.MODES[seed % len(nsight_random.MODES)]).x.write(path, page_size)
            model = nsight_model.Model(path)
            path = change(path) or path
            self.assertEqual([], differences(path, model)[:4], (name, seed))
            os.remove(path)

    def run_sql(self, path, *statements):
        db = sqlite3.connect(path, isolation_level=None)
        for statement in statements:
            db.execute(statement).fetchall()
        db.close()

    def tables(self, path):
        db = sqlite3.connect(path)
        names = [name for name, in db.execute("select name from sqlite_master where type = 'table'")]
        db.close()
        return names

    def test_pages(self):
        for size in (512, 1024, 65536):
            self.check(f'pages{size}', lambda path: None, size)

    def test_encodings(self):
        """UTF-16: the same rows, put into a new database."""
        def change(path):
            new = path + '.utf16.sqlite'
            db = sqlite3.connect(path, isolation_level=None)
            script = list(db.iterdump())
            db.close()
            db = sqlite3.connect(new, isolation_level=None)
            db.execute("pragma encoding = 'UTF-16be'")
            for statement in script:
                db.execute(statement)
            db.close()
            return new
        self.check('utf16', change)

    def test_vacuum(self):
        """With pages that say which page points to which."""
        self.check('auto', lambda path: self.run_sql(path, 'pragma auto_vacuum = full', 'vacuum'))

    def test_write_ahead_log(self):
        def change(path):
            self.run_sql(path, 'pragma journal_mode = wal', 'pragma wal_checkpoint(truncate)')
            self.assertEqual([], [f for f in os.listdir(self.folder) if f.endswith(('-wal', '-shm'))])
        self.check('wal', change)

    def test_gaps(self):
        """Rows that were deleted, rowids at both ends of what numbers can be."""
        def change(path):
            for table in self.tables(path):
                if table == 'StringIds':
                    continue
                self.run_sql(path, f'insert into "{table}" select t.* from "{table}" t, (select 1 union select 2 union select 3)', f'update "{table}" set rowid = rowid * 9000 + 9000000000000000000 where '
                             f'rowid > (select count(*) / 4 from "{table}")', f'delete from "{table}" where rowid >= 9000000000000000000')
                self.run_sql(path, f'update "{table}" set rowid = rowid * 1000000007 where rowid % 2 = 1', f'update "{table}" set rowid = rowid - 9223372036854775807')
        self.check_in_order('gaps', change)

    def check_in_order(self, name, change):
        """Rows stand in another order then: the model reads what assay reads."""
        for seed in self.seeds:
            path = self.path(f'{name}-{seed}.sqlite')
            nsight_random.Random(seed, nsight_random.MODES[seed % len(nsight_random.MODES)]).x.write(path)
            change(path)
            self.assertEqual([], differences(path, nsight_model.Model(path))[:4], (name, seed))
            os.remove(path)

    def test_columns_that_were_added(self):
        """Their values are not in the records of older rows."""
        def change(path):
            if make.KERNEL in self.tables(path):
                self.run_sql(path, f'alter table {make.KERNEL} drop column gridX', f'alter table {make.KERNEL} add column gridX integer default 3')
        if sqlite3.sqlite_version_info >= (3, 35):
            self.check_in_order('added', change)

    def test_tables_without_rowids(self):
        """In the order of their keys, which is that of the rows."""
        def change(path):
            for table in WIDE:
                if table in self.tables(path):
                    columns = [row[1] for row in sqlite3.connect(path).execute(f'pragma table_info("{table}")')]
                    new = ', '.join(f'"{c}"' for c in columns)
                    self.run_sql(path, f'create table other (number integer primary key, {new}) without rowid', f'insert into other select rowid, * from "{table}"', f'drop table "{table}"',
                                 f'alter table other rename to "{table}"')
        self.check('without', change)

    def test_keys(self):
        """A column that is the rowid is not in the record."""
        x = make.Export()
        x.launch('saxpy', (10, 20), (30, 50))
        x.launch('dot', (22, 25), (40, 60))
        x.write(self.path('plain.sqlite'))
        shutil.copy(self.path('plain.sqlite'), self.path('key.sqlite'))
        columns = ', '.join(f'"{c}"' for c in x.table(make.KERNEL))
        self.run_sql(self.path('key.sqlite'), f'create table other ({columns.replace(",", " integer primary key,", 1)})', f'insert into other select * from {make.KERNEL}', f'drop table {make.KERNEL}',
                     f'alter table other rename to {make.KERNEL}')
        self.assertEqual([], differences(self.path('key.sqlite'), nsight_model.Model(self.path('plain.sqlite'))))

    def test_dimensions_that_are_missing(self):
        """A grid is what all three say, or nothing."""
        x = make.Export()
        x.launch('saxpy', (10, 20), (30, 50))
        x.without(make.KERNEL, 'gridY', 'blockX')
        x.write(self.path('a.sqlite'))
        self.assertEqual([], run('sql', '--json', self.path('a.sqlite'), "select * from attribute where key in ('grid', 'block')").json)


if __name__ == '__main__':
    main()
