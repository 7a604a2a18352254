-- Emails are stored with an ASCII domain: Auth requires it, and the edge functions write them that way.

create function private.ascii_label(label text) returns text
  language plpgsql immutable set search_path = ''
as $$
declare
  -- The algorithm and the names of its variables are from RFC 3492 (Punycode).
  digits constant text := 'abcdefghijklmnopqrstuvwxyz0123456789';
  input constant integer[] := array(
    select ascii(letter)
    from string_to_table(label, null) with ordinality as letters (letter, index)
    order by index
  );
  output text := regexp_replace(label, '[^\u0001-\u007F]', '', 'g');
  basic constant integer := length(output);
  handled integer := basic;
  n integer := 127;
  next_n integer;
  delta integer := 0;
  bias integer := 72;
  point integer;
  q integer;
  k integer;
  t integer;
begin
  if basic = cardinality(input) then
    return label;
  end if;
  output := output || case when basic > 0 then '-' else '' end;
  while handled < cardinality(input) loop
    next_n := (
      select min(points.point) from unnest(input) as points (point) where points.point > n
    );
    delta := delta + (next_n - n - 1) * (handled + 1);
    n := next_n;
    foreach point in array input loop
      delta := delta + (point < n)::integer;
      continue when point <> n;
      q := delta;
      k := 36;
      loop
        t := greatest(1, least(26, k - bias));
        exit when q < t;
        output := output || substr(digits, t + (q - t) % (36 - t) + 1, 1);
        q := (q - t) / (36 - t);
        k := k + 36;
      end loop;
      output := output || substr(digits, q + 1, 1);
      delta := delta / case when handled = basic then 700 else 2 end;
      delta := delta + delta / (handled + 1);
      k := 0;
      while delta > 455 loop
        delta := delta / 35;
        k := k + 36;
      end loop;
      bias := k + 36 * delta / (delta + 38);
      delta := 0;
      handled := handled + 1;
    end loop;
    delta := delta + 1;
  end loop;
  return 'xn--' || output;
end
$$;
comment on function private.ascii_label is
  'A label of a domain in ASCII: unchanged if it is ASCII already, otherwise encoded in Punycode.';

create function private.ascii_email(email text) returns text
  language sql immutable set search_path = ''
as $$
  select split_part(plain, '@', 1) || '@'
    || string_agg(private.ascii_label(label), '.' order by index)
  from (select lower(email collate pg_catalog.pg_c_utf8) as plain) as lowered,
    string_to_table(split_part(plain, '@', 2), '.') with ordinality as labels (label, index)
  group by plain
$$;
comment on function private.ascii_email is
  'The form in which an email is stored: lower case, with an ASCII domain. The argument must be in '
  'NFKC.';
