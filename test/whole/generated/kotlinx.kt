/** Settings that an app makes once: absent fields are not sent, and values of any type are JSON elements. */
import kotlinx.serialization.KSerializer
import kotlinx.serialization.encoding.Decoder
import kotlinx.serialization.encoding.Encoder
import kotlinx.serialization.json.JsonDecoder
import kotlinx.serialization.json.JsonElement
import kotlinx.serialization.json.JsonEncoder
import market.infrastructure.Serializer

fun configure() {
    Serializer.kotlinxSerializationJsonConfiguration = { explicitNulls = false }
    Serializer.kotlinxSerializationAdaptersConfiguration = { contextual(Any::class, Anything) }
}

object Anything : KSerializer<Any> {
    override val descriptor = JsonElement.serializer().descriptor
    override fun deserialize(decoder: Decoder) = (decoder as JsonDecoder).decodeJsonElement()
    override fun serialize(encoder: Encoder, value: Any) =
        (encoder as JsonEncoder).encodeJsonElement(value as JsonElement)
}
