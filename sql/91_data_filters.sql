-- The rows of private.search_filter_rules. The script can be run repeatedly.
set edits.by = 'release';

insert into private.search_filter_rules values
  ('type', 'type', 'type', '=', null, null, null, null, true, 'type', null, null),
  ('kinds', 'codes', 'kind', '= any', 'kind', null, null, null, true, 'kind', null, 3),
  ('usage', 'code', 'usage', '=', 'usage', null, null, null, false, 'usage', null, null),
  ('governorateIds', 'codes', 'governorate_id', '= any', 'governorate', null, null, null, true,
    'governorate', null, null),
  ('areaIds', 'codes', 'area_id', '= any', 'area', null, null, null, true, 'area', null, 4),
  ('notKinds', 'codes', 'kind', '<> all', 'kind', null, null, null, true, 'kind', null, null),
  ('notGovernorateIds', 'codes', 'governorate_id', '<> all', 'governorate', null, null, null, true,
    'governorate', null, null),
  ('notAreaIds', 'codes', 'area_id', '<> all', 'area', null, null, null, true, 'area', null, null),
  ('priceMin', 'number', 'price', '>=', null, 0, 99999999999.999, null, true, null, null, 5),
  ('priceMax', 'number', 'price', '<=', null, 0, 99999999999.999, null, true, null, null, 5),
  ('areaM2Min', 'number', 'area_m2', '>=', null, 0, 10000000, null, true, null, null, 2),
  ('areaM2Max', 'number', 'area_m2', '<=', null, 0, 10000000, null, true, null, null, 2),
  ('bedroomsMin', 'integer', 'bedrooms', '>=', null, 0, 100, null, true, 'bedrooms', null, 2),
  ('bathroomsMin', 'integer', 'bathrooms', '>=', null, 0, 100, null, true, 'bathrooms',
    'bathrooms', 2),
  ('furnished', 'codes', 'furnished', '= any', 'furnished', null, null, null, true, 'furnished',
    'furnished', 2),
  ('isDirect', 'boolean', 'is_direct', '=', null, null, null, null, false, 'direct', 'direct', 2),
  ('verifiedOnly', 'boolean', 'owner_verified', '>=', null, null, null, null, false, 'verified',
    null, null),
  ('postedSince', 'time', 'published_at', '>=', null, null, null, null, true, null, null, null),
  ('bbox', 'box', null, null, null, null, null, null, false, null, null, null),
  ('near', 'circle', null, null, null, null, null, null, false, null, null, 4),
  ('ownerId', 'owner', 'owner_identity_id', '=', null, null, null, null, false, null, null, null),
  ('companyId', 'uuid', 'owner_identity_id', '=', null, null, null, 'company', false, null, null,
    null),
  ('requestYearMin', 'integer', 'request_year', '>=', null, 1950, 2100, 'exchange', false, null,
    null, null),
  ('requestYearMax', 'integer', 'request_year', '<=', null, 1950, 2100, 'exchange', false, null,
    null, null),
  ('floorMin', 'integer', 'floor_no', '>=', null, -10, 200, null, false, null, 'floor', 2),
  ('floorMax', 'integer', 'floor_no', '<=', null, -10, 200, null, false, null, 'floor', 2),
  ('plotPosition', 'codes', 'plot_position', '= any', 'plot_position', null, null, null, false,
    'plot_position', 'plot_position', 2),
  ('amenities', 'codes', 'amenities', '@>', 'amenity', null, null, null, false, 'amenity', 'amenity',
    2),
  ('block', 'block', 'block', '=', null, null, null, null, false, 'block', 'block', 2)
on conflict (name) do update set
  form = excluded.form, compared = excluded.compared, comparison = excluded.comparison,
  vocabulary = excluded.vocabulary, lowest = excluded.lowest, highest = excluded.highest,
  strategy = excluded.strategy, is_indexed = excluded.is_indexed, term = excluded.term,
  said = excluded.said, let_go = excluded.let_go;

insert into private.kind_groups values
  ('house', 'house'), ('villa', 'house'), ('gov_house', 'house'), ('floor', 'house'),
  ('apartment', 'flat'), ('studio', 'flat'), ('annex', 'flat'),
  ('land', 'plot'), ('residential_plot', 'plot'),
  ('building', 'building'), ('investment_building', 'building'), ('commercial_complex', 'building'),
  ('office', 'business'), ('shop', 'business'), ('showroom', 'business'),
  ('warehouse', 'industry'), ('industrial_plot', 'industry'),
  ('chalet', 'leisure'), ('istiraha', 'leisure'), ('farm', 'leisure'), ('camp', 'leisure')
on conflict (kind) do update set name = excluded.name;
