-- The record of a listed property: how it is kept, how it is read.

-- What is kept must not depend on who writes it: the time zone and the digits of numbers are fixed.
create function private.listed_record(property public.properties) returns private.listed_records
  language plpgsql
  stable
  set search_path = ''
  set timezone = 'UTC'
  set extra_float_digits = 0
  set plan_cache_mode = force_generic_plan -- else every record is planned anew: 4 ms, not 0.2
as $$
declare
  files_url text := (
    select settings.value #>> '{}' from private.settings where settings.name = 'files_url'
  );
  cut constant text := chr(1);
  pieces text[];
  kept private.listed_records;
begin
  -- A key with its quotes stands in no text, where quotes are escaped.
  pieces := string_to_array(
    replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(
      replace(
      -- Whoever writes it may read English.
      (select records.record::text from private.property_records(array[property.id], null, false)
        as records),
      '"priceLabel":', '"priceLabel":' || cut), ',"isNegotiable":', cut || ',"isNegotiable":'),
      '"rentConditions":', '"rentConditions":' || cut),
      ',"landAreaM2":', cut || ',"landAreaM2":'),
      ',"media":', ',"media":' || cut), ',"owner":', cut || ',"owner":'),
      '"displayName":', '"displayName":' || cut), ',"verified":', cut || ',"verified":'),
      ',"isFavorite":', ',"isFavorite":' || cut), ',"createdAt":', cut || ',"createdAt":'),
      ',"deal":', ',"deal":' || cut), ',"shareUrl":', cut || ',"shareUrl":'),
      ',"statusReason":', cut || ',"statusReason":'),
    cut);
  if cardinality(pieces) <> 14 then
    raise exception 'the record of % falls into % pieces', property.id, cardinality(pieces);
  end if;
  kept.property_id := property.id;
  kept.owner_identity_id := property.owner_identity_id;
  kept.ref_no := property.ref_no;
  kept.drop_until := property.drop_until;
  kept.up_to_price_label := pieces[1];
  kept.price_label := pieces[2];
  kept.price_label_en := to_json(private.price_label(property.type, property.price, true));
  kept.up_to_terms := pieces[3];
  kept.terms := pieces[4];
  kept.terms_en := nullif(
    private.worded_terms(property.rent_conditions, 'rent_condition', true)::text
      || ',"additionalExpenses":'
      || private.worded_terms(property.additional_expenses, 'expense', true)::text,
    kept.terms);
  kept.up_to_media := pieces[5];
  kept.media := replace(pieces[6], '"url":"' || files_url, '"url":"' || cut);
  kept.up_to_owner_name := pieces[7];
  kept.up_to_favorite := pieces[9];
  kept.up_to_deal := pieces[11];
  kept.deal := pieces[12];
  kept.after_deal := pieces[14];
  kept.owner_name := private.owner_name_text(property.owner_identity_id);
  return kept;
end
$$;
comment on function private.listed_record is
  'The record of a listing as private.listed_records keeps it, cut from property_record.';

-- Without a search_path, as private.may_act (03_accounts/2_rules_access.sql), so that reads inline
-- it.
create function private.listed_record_text(
  kept private.listed_records, is_favorite boolean, counters private.property_counters,
  share_template text, english boolean
) returns text
  language sql
  stable
  return (listed_record_text.kept).up_to_price_label
    || case when listed_record_text.english then (listed_record_text.kept).price_label_en
      else (listed_record_text.kept).price_label end
    || (listed_record_text.kept).up_to_terms
    || coalesce(
      case when listed_record_text.english then (listed_record_text.kept).terms_en end,
      (listed_record_text.kept).terms)
    || (listed_record_text.kept).up_to_media
    || (listed_record_text.kept).media
    || (listed_record_text.kept).up_to_owner_name
    || (listed_record_text.kept).owner_name
    || (listed_record_text.kept).up_to_favorite
    || case when listed_record_text.is_favorite then 'true' else 'false' end
    || ',"viewsCount":' || coalesce((listed_record_text.counters).views, 0)
    || ',"favoritesCount":' || coalesce((listed_record_text.counters).favorites, 0)
    || (listed_record_text.kept).up_to_deal
    || case when (listed_record_text.kept).drop_until > now()
      then (listed_record_text.kept).deal else 'null'
    end
    || ',"shareUrl":'
    || private.share_url_json(listed_record_text.share_template, (listed_record_text.kept).ref_no)
    || (listed_record_text.kept).after_deal;
comment on function private.listed_record_text is
  'The JSON of a record, from what is kept and what its reader sees, with the character 1 for the '
  'address of files. share_template is the setting share_url as JSON.';
