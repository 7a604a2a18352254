// A project's settings in the formats of the older and the newer routes of the Management API.
import { createHmac } from 'node:crypto'
import { type Json, type Platform, ref } from './platform.ts'

/** Auth's settings as the API returns them, with an HMAC in place of the secret. */
export const masked = (auth: Json) => ({
  ...auth,
  security_captcha_secret: auth.security_captcha_secret &&
    createHmac('sha256', ref).update(String(auth.security_captcha_secret)).digest('hex'),
})

export const stored = ({ fileSizeLimit, features }: Platform['storage']) => ({
  fileSizeLimit,
  features: {
    ...features,
    icebergCatalog: { enabled: false, maxNamespaces: 10, maxTables: 10, maxCatalogs: 2 },
    vectorBuckets: { enabled: false, maxBuckets: 10, maxIndexes: 5 },
  },
  capabilities: { list_v2: true, iceberg_catalog: true },
  external: { upstreamTarget: 'main' },
  migrationVersion: 'operation-ergonomics',
  databasePoolMode: 'recycled',
})

/** The response of the newer route, which returns all settings at once, with different names. */
export function whole(
  platform: Pick<Platform, 'auth' | 'realtime' | 'storage'>,
  api: Json,
  tls: boolean,
) {
  const { fileSizeLimit, features } = platform.storage
  return {
    data: {
      type: 'project_config',
      id: ref,
      attributes: {
        database: {
          major_version: 17,
          ssl_enforced: tls,
          network_restrictions: {
            entitlement: 'allowed',
            status: 'applied',
            allowed_cidrs: [{ address: '0.0.0.0/0', type: 'v4' }, { address: '::/0', type: 'v6' }],
          },
          postgres_settings: {},
        },
        pooler: {
          pool_mode: 'transaction',
          ignore_startup_parameters: '',
          server_idle_timeout: 600,
          server_lifetime: 3600,
          query_wait_timeout: 120,
          reserve_pool_size: 0,
          default_pool_size: 15,
          max_client_conn: 200,
        },
        auth: masked(platform.auth),
        api,
        realtime: { ...platform.realtime, postgres_changes_pool: null },
        storage: {
          file_size_limit: fileSizeLimit,
          features: {
            image_transformation: features.imageTransformation,
            s3_protocol: features.s3Protocol,
            purge_cache: { enabled: true },
            iceberg_catalog: {
              enabled: false,
              max_namespaces: 10,
              max_tables: 10,
              max_catalogs: 2,
            },
            vector_buckets: { enabled: false, max_buckets: 10, max_indexes: 5 },
          },
          capabilities: { list_v2: true, iceberg_catalog: true, object_versioning: false },
          upstream_target: 'main',
          migration_version: 'operation-ergonomics',
        },
      },
    },
  }
}
