// For test/release.ts: adds two fields to listings, a number and a text, by the recipe in
// docs/conventions.md, as a release after 1.0.0 would.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export const column = 'parking_spaces'

const edits: [file: string, after: string, added: string][] = [
  ['docs/contract/properties.md', '`buildingYear?`', ', `parkingSpaces?`, `parkingNote?`'],
  [
    'sql/06_properties/1_tables.sql',
    'check (building_year between 1900 and 2100),\n',
    '  parking_spaces smallint\n' +
    '    constraint properties_parking_spaces_range check (parking_spaces between 0 and 100),\n' +
    '  parking_note text\n' +
    '    constraint properties_parking_note_length check (char_length(parking_note) between 1 and 60),\n',
  ],
  [
    'sql/06_properties/1_tables.sql',
    `comment on column public.properties.floor_no is '0 is the ground floor.';\n`,
    `comment on column public.properties.parking_spaces is 'Those that go with it.';\n`,
  ],
  [
    'sql/06_properties/2_rules_fields.sql',
    `('buildingYear', 'integer', null, 1900, private.this_year() + 5, '{by_hand}'),\n`,
    `    ('parkingSpaces', 'integer', null, 0, 100, '{by_hand}'),\n` +
    `    ('parkingNote', 'name', null, 1, 60, '{by_hand}'),\n`,
  ],
  [
    'functions/api/properties/schemas-fields.ts',
    '    maybe(year(1900, 5)),\n  ),\n',
    `  parkingSpaces: field(\n    z.int().min(0).max(100).nullable().describe('Those that go with it.'),\n` +
    '    maybe(whole(0, 100)),\n  ),\n' +
    `  parkingNote: field(\n    shown.describe('Where they are.'),\n    maybe(name(60)),\n  ),\n`,
  ],
]

const backfill = `-- Listings of before say what every one of their buildings has.
set edits.by = 'release';

update public.properties
set parking_spaces = 1
where parking_spaces is null and bedrooms > 0;

-- Records are kept, and have the field now.
select private.rebuild_search_documents();

reset edits.by;
`

export const backfilled = `
  select count(*)::int as all, (count(parking_spaces))::int as mended
  from public.properties where bedrooms > 0`

/** Returns the files with the fields added; throws if the text after which an edit goes is missing. */
export function withField(read: (file: string) => string): Map<string, string> {
  const files = new Map([['sql/92_backfills.sql', backfill]])
  // Tests in the clone also call this, after the fields have been added.
  const there = edits.map(([file]) => file).filter((file) => /parking_?spaces/i.test(read(file)))
  for (const [file, after, added] of edits) {
    if (there.includes(file)) {
      files.set(file, read(file))
      continue
    }
    const [before, rest, ...more] = (files.get(file) ?? read(file)).split(after)
    if (rest === undefined || more.length) {
      throw new Error(
        `${file} has not one place "${after.trim()}", as test/suite/new-field.ts has.`,
      )
    }
    files.set(file, before + after + added + rest)
  }
  return files
}

export function addField(folder: string) {
  const files = withField((file) => readFileSync(join(folder, file), 'utf8'))
  for (const [file, text] of files) writeFileSync(join(folder, file), text)
}
