-- Codes and ids have a strict format, because they appear in comma-separated lists and URLs.

create table public.vocabularies (
  vocabulary text not null,
  code text not null constraint vocabularies_code_form check (code ~ '^[A-Za-z0-9_-]{1,60}$'),
  text_ar text not null,
  text_en text not null,
  note text,
  position integer not null,
  edited text[] not null default '{}',
  primary key (vocabulary, code)
);
comment on table public.vocabularies is 'Codes with their texts. Never purged: listings use them.';
comment on column public.vocabularies.vocabulary is 'The name of the list, such as kind.';
comment on column public.vocabularies.note is
  'For kinds of property: their usual listing types. For notification categories: the kinds of '
  'notifications in them. For decision reasons: the kinds of items that they usually apply to.';

create table public.governorates (
  id text primary key constraint governorates_id_form check (id ~ '^[a-z0-9_-]{1,60}$'),
  name_ar text not null,
  name_en text not null,
  lat double precision not null,
  lng double precision not null,
  position integer not null,
  edited text[] not null default '{}'
);
comment on table public.governorates is 'Kuwait''s governorates. Never purged: always six rows.';

create table public.areas (
  id text primary key constraint areas_id_form check (id ~ '^[a-z0-9_-]{1,60}$'),
  governorate_id text not null references public.governorates (id),
  name_ar text not null,
  name_en text not null,
  alias_ar text,
  lat double precision,
  lng double precision,
  constraint areas_centroid_is_whole check (num_nulls(lat, lng) in (0, 2)),
  approximate boolean not null,
  reach_km double precision,
  constraint areas_reach_is_from_a_known_centroid check (
    reach_km is null or reach_km > 0 and lat is not null and not approximate
  ),
  position integer not null,
  edited text[] not null default '{}',
  constraint areas_governorate_key unique (governorate_id, id)
);
comment on table public.areas is 'The areas of Kuwait. Never purged: one row per area.';
comment on column public.areas.approximate is
  'Whether the centroid is only an estimate without a source. Such a centroid is used only on the '
  'map.';
comment on column public.areas.reach_km is
  'The maximum distance of a listing from the centroid; null if the distance is not checked.';

create table private.landmarks (
  id text primary key constraint landmarks_id_form check (id ~ '^[a-z0-9_-]{1,60}$'),
  name_ar text not null,
  name_en text not null,
  lat numeric not null,
  lng numeric not null,
  constraint landmarks_are_in_kuwait check (lat between 28.45 and 30.15 and lng between 46.50 and 48.80),
  edited text[] not null default '{}'
);
comment on table private.landmarks is
  'Malls, hospitals, towers and other places near which people search for listings. Alternative '
  'spellings of their names are in private.reading_words. Never purged: admins maintain them.';
alter table private.landmarks enable row level security;
grant select on private.landmarks to acting;
create policy "functions for clients read all" on private.landmarks for select to acting using (true);

alter table public.vocabularies enable row level security;
alter table public.governorates enable row level security;
alter table public.areas enable row level security;
revoke all on public.vocabularies, public.governorates, public.areas from anon, authenticated;
grant select on public.vocabularies, public.governorates, public.areas to anon, authenticated, acting,
  administering;
create policy "everybody reads vocabularies" on public.vocabularies
  for select to anon, authenticated, acting, administering using (true);
create policy "everybody reads governorates" on public.governorates
  for select to anon, authenticated, acting, administering using (true);
create policy "everybody reads areas" on public.areas
  for select to anon, authenticated, acting, administering using (true);

create function private.is_word(vocabulary text, code text) returns boolean
  language plpgsql stable set search_path = ''
as $$
begin
  return exists (
    select from public.vocabularies
    where vocabularies.vocabulary = is_word.vocabulary and vocabularies.code = is_word.code
  );
end
$$;

grant execute on function private.is_word to anon, authenticated, backend;
