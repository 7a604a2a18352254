-- The stored text must not depend on the session, so the time zone and extra_float_digits are fixed.
create function private.listed_record(property public.properties) returns private.listed_records
  language plpgsql stable set search_path = '' set timezone = 'UTC' set extra_float_digits = 0
  set plan_cache_mode = force_generic_plan -- planning for each record takes 4 ms instead of 0.2 ms
as $$
declare
  files_url text := (
    select settings.value #>> '{}' from private.settings where settings.name = 'files_url'
  );
  cut constant text := chr(1);
  pieces text[];
  stored private.listed_records;
begin
  -- A quoted key cannot occur inside a value, because quotes in values are escaped.
  pieces := string_to_array(
    replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(
      replace(
      -- The stored record is in Arabic, whatever the language of the session that writes it.
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
  stored.property_id := property.id;
  stored.owner_identity_id := property.owner_identity_id;
  stored.ref_no := property.ref_no;
  stored.drop_until := property.drop_until;
  stored.up_to_price_label := pieces[1];
  stored.price_label := pieces[2];
  stored.price_label_en := to_json(private.price_label(property.type, property.price, true));
  stored.up_to_terms := pieces[3];
  stored.terms := pieces[4];
  stored.terms_en := nullif(
    private.worded_terms(property.rent_conditions, 'rent_condition', true)::text
      || ',"additionalExpenses":'
      || private.worded_terms(property.additional_expenses, 'expense', true)::text,
    stored.terms);
  stored.up_to_media := pieces[5];
  stored.media := replace(pieces[6], '"url":"' || files_url, '"url":"' || cut);
  stored.up_to_owner_name := pieces[7];
  stored.up_to_favorite := pieces[9];
  stored.up_to_deal := pieces[11];
  stored.deal := pieces[12];
  stored.after_deal := pieces[14];
  stored.owner_name := private.owner_name_text(property.owner_identity_id);
  return stored;
end
$$;

-- No search_path, so that the planner can inline this function (03_accounts/2_rules_access.sql).
create function private.listed_record_text(
  stored private.listed_records, is_favorite boolean, counters private.property_counters,
  share_template text, english boolean
) returns text
  language sql stable
  return (listed_record_text.stored).up_to_price_label
    || case when listed_record_text.english then (listed_record_text.stored).price_label_en
      else (listed_record_text.stored).price_label end
    || (listed_record_text.stored).up_to_terms
    || coalesce(
      case when listed_record_text.english then (listed_record_text.stored).terms_en end,
      (listed_record_text.stored).terms)
    || (listed_record_text.stored).up_to_media
    || (listed_record_text.stored).media
    || (listed_record_text.stored).up_to_owner_name
    || (listed_record_text.stored).owner_name
    || (listed_record_text.stored).up_to_favorite
    || case when listed_record_text.is_favorite then 'true' else 'false' end
    || ',"viewsCount":' || coalesce((listed_record_text.counters).views, 0)
    || ',"favoritesCount":' || coalesce((listed_record_text.counters).favorites, 0)
    || (listed_record_text.stored).up_to_deal
    || case when (listed_record_text.stored).drop_until > now()
      then (listed_record_text.stored).deal else 'null'
    end
    || ',"shareUrl":'
    || private.share_url_json(listed_record_text.share_template, (listed_record_text.stored).ref_no)
    || (listed_record_text.stored).after_deal;
comment on function private.listed_record_text is
  'Concatenates the fragments of a record. The caller must replace chr(1) with the setting '
  'files_url. share_template is the setting share_url as JSON text.';
