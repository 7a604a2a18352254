-- The rows of private.search_filter_rules. The script may run twice.
set edits.by = 'release';

insert into private.search_filter_rules values
  ('type', 'type', 'type', '=', null, null, null, null, true, 'type'),
  ('kinds', 'codes', 'kind', '= any', 'kind', null, null, null, true, 'kind'),
  ('usage', 'code', 'usage', '=', 'usage', null, null, null, false, 'usage'),
  ('governorateIds', 'codes', 'governorate_id', '= any', 'governorate', null, null, null, true,
    'governorate'),
  ('areaIds', 'codes', 'area_id', '= any', 'area', null, null, null, true, 'area'),
  ('priceMin', 'number', 'price', '>=', null, 0, 99999999999.999, null, true, null),
  ('priceMax', 'number', 'price', '<=', null, 0, 99999999999.999, null, true, null),
  ('areaM2Min', 'number', 'area_m2', '>=', null, 0, 10000000, null, true, null),
  ('areaM2Max', 'number', 'area_m2', '<=', null, 0, 10000000, null, true, null),
  ('bedroomsMin', 'integer', 'bedrooms', '>=', null, 0, 100, null, true, 'bedrooms'),
  ('bathroomsMin', 'integer', 'bathrooms', '>=', null, 0, 100, null, true, 'bathrooms'),
  ('furnished', 'codes', 'furnished', '= any', 'furnished', null, null, null, true, 'furnished'),
  ('isDirect', 'boolean', 'is_direct', '=', null, null, null, null, false, 'direct'),
  ('verifiedOnly', 'boolean', 'owner_verified', '>=', null, null, null, null, false, 'verified'),
  ('postedSince', 'time', 'published_at', '>=', null, null, null, null, true, null),
  ('bbox', 'box', null, null, null, null, null, null, false, null),
  ('near', 'circle', null, null, null, null, null, null, false, null),
  ('ownerId', 'owner', 'owner_identity_id', '=', null, null, null, null, false, null),
  ('companyId', 'uuid', 'owner_identity_id', '=', null, null, null, 'company', false, null),
  ('requestYearMin', 'integer', 'request_year', '>=', null, 1950, 2100, 'exchange', false, null),
  ('requestYearMax', 'integer', 'request_year', '<=', null, 1950, 2100, 'exchange', false, null),
  ('floorMin', 'integer', 'floor_no', '>=', null, -10, 200, null, false, null),
  ('floorMax', 'integer', 'floor_no', '<=', null, -10, 200, null, false, null),
  ('plotPosition', 'codes', 'plot_position', '= any', 'plot_position', null, null, null, false,
    'plot'),
  ('block', 'block', 'block', '=', null, null, null, null, false, 'block')
on conflict (name) do update set
  form = excluded.form, compared = excluded.compared, comparison = excluded.comparison,
  vocabulary = excluded.vocabulary, lowest = excluded.lowest, highest = excluded.highest,
  strategy = excluded.strategy, is_indexed = excluded.is_indexed, term = excluded.term;
